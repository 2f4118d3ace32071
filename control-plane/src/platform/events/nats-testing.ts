import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { listeningPort } from '@gpuaas/contracts/listening-port';
import { waitUntil } from './testing.ts';

export const natsServerInstalled = ((): boolean => {
  try {
    execFileSync('nats-server', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
})();

export interface NatsServer {
  url: string;
  /** Ends it by SIGKILL, as a crash would. */
  kill(): Promise<void>;
  start(): Promise<void>;
  /** Deletes everything it stored. */
  wipe(): Promise<void>;
  stop(): Promise<void>;
}

/** Debian's nats-server with JetStream on a free port. */
export async function startNatsServer(): Promise<NatsServer> {
  const folder = await mkdtemp(join(tmpdir(), 'gpuaas-nats-'));
  const port = await freePort();
  let child: ChildProcess | undefined;
  const server: NatsServer = {
    url: `nats://127.0.0.1:${port}`,
    async start() {
      child = spawn('nats-server', ['-js', '-a', '127.0.0.1', '-p', String(port), '-sd', folder], {
        stdio: 'ignore',
      });
      await waitUntil(() => accepts(port));
    },
    async kill() {
      if (!child || child.exitCode !== null || child.signalCode !== null) return;
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
    },
    async wipe() {
      await rm(folder, { recursive: true, force: true });
    },
    async stop() {
      await server.kill();
      await server.wipe();
    },
  };
  await server.start();
  return server;
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const port = listeningPort(probe);
  probe.close();
  await once(probe, 'close');
  return port;
}

async function accepts(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
