import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { eventually } from '../eventually.ts';
import { freePort } from './free-port.ts';

/** `platform` is all of them in one process, as `npm start` runs it, without hosts. */
export type Role = 'api' | 'app-gateway' | 'node-api' | 'worker' | 'relay' | 'migrate' | 'platform';

export interface RoleProcess {
  pid: number;
  /** Where `/healthz`, `/readyz` and `/metrics` are. */
  url: string;
  port: number;
  /** Where agents call; only of a role that has both ports. */
  nodePort: number;
  /** Signals it and resolves with its exit code when it is gone; null after a kill. */
  end(signal: NodeJS.Signals): Promise<number | null>;
  said(): string;
}

/** Roles as separate processes, as a deployment runs them. */
export function roleProcesses(env: Record<string, string>): {
  start(role: Role, more?: Record<string, string>): Promise<RoleProcess>;
  stop(): Promise<void>;
} {
  const running = new Set<RoleProcess>();
  return {
    async start(role, more = {}) {
      const [probePort, port, appsPort] = [await freePort(), await freePort(), await freePort()];
      const own: Record<string, string> = hasPublicPort(role)
        ? { GPUAAS_PORT: String(port), GPUAAS_NODE_PORT: String(probePort) }
        : { GPUAAS_PROBE_PORT: String(probePort), GPUAAS_NODE_PORT: String(port) };
      const child = spawn(process.execPath, ['--disable-warning=DeprecationWarning', fileOf(role)], {
        env: {
          PATH: process.env['PATH'],
          GPUAAS_LOG_LEVEL: 'error',
          GPUAAS_APPS_PORT: String(appsPort),
          ...env,
          ...own,
          ...more,
        },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      let said = '';
      for (const stream of [child.stdout, child.stderr])
        stream.on('data', (data: Buffer) => (said += data.toString()));
      const started: RoleProcess = {
        pid: child.pid!,
        url: `http://127.0.0.1:${hasPublicPort(role) ? port : probePort}`,
        port,
        nodePort: role === 'platform' ? probePort : port,
        end: (signal) => end(child, signal).finally(() => running.delete(started)),
        said: () => said,
      };
      running.add(started);
      await eventually(
        `${role} to be ready`,
        async () => {
          if (child.exitCode !== null) throw new Error(`${role} ended: ${said}`);
          const answer = await fetch(`${started.url}/readyz`).catch(() => null);
          return answer?.ok ? true : null;
        },
        150_000,
      );
      return started;
    },
    async stop() {
      await Promise.all([...running].map((process) => process.end('SIGKILL')));
    },
  };
}

function hasPublicPort(role: Role): boolean {
  return role === 'api' || role === 'platform';
}

function fileOf(role: Role): string {
  if (role === 'platform') return fileURLToPath(new URL('platform-process.ts', import.meta.url));
  return fileURLToPath(new URL(`../../../control-plane/src/roles/${role}.ts`, import.meta.url));
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) {
    const gone = once(child, 'exit');
    child.kill(signal);
    await gone;
  }
  return child.exitCode;
}

/** Passes each connection to the next port that takes it, as a load balancer in front of replicas does. */
export async function balance(ports: number[]): Promise<{ port: number; stop(): Promise<void> }> {
  let turn = 0;
  const server = createServer({ allowHalfOpen: true }, (client) => {
    client.on('error', () => client.destroy());
    const attempt = (left: number): void => {
      const upstream = connect({
        port: ports[turn++ % ports.length]!,
        host: '127.0.0.1',
        allowHalfOpen: true,
      });
      upstream.once('error', () => (left > 1 ? attempt(left - 1) : client.destroy()));
      upstream.once('connect', () => {
        upstream.removeAllListeners('error').on('error', () => client.destroy());
        client.on('close', () => upstream.destroy());
        upstream.on('close', () => client.destroy());
        client.pipe(upstream).pipe(client);
      });
    };
    attempt(ports.length);
  });
  const port = await freePort();
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    port,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
      }),
  };
}
