import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, open } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { identityValidForMs } from './agent-identity.ts';
import type { LabLog } from './lab-log.ts';
import { awaitGuestsGone } from './simulated-guests.ts';

const AGENT_MAIN = fileURLToPath(new URL('../../node-agent/src/main.ts', import.meta.url));
const ENOUGH_VALIDITY_MS = 3_600_000;
const RESTART_AFTER_MS = 1_000;
const STOP_GRACE_MS = 5_000;
const GUESTS_GONE_MS = 5_000;
const PASSED_ON = ['PATH', 'HOME', 'TMPDIR', 'LANG', 'GPUAAS_LOG_LEVEL'];

export interface MachineOptions {
  hostname: string;
  dir: string;
  /** Settings of the agent besides its folder, name and token. */
  env: Record<string, string>;
  mintToken: () => Promise<string>;
  log: LabLog;
}

/** One simulated host: its power cord, and an agent that comes back when it crashes. */
export interface SimulatedMachine {
  hostname: string;
  pid(): number | null;
  kill(signal: NodeJS.Signals): void;
  /** Resolves when the agent has an identity. */
  enrolled(deadlineMs: number): Promise<void>;
  stop(): Promise<void>;
}

export async function startMachine(options: MachineOptions): Promise<SimulatedMachine> {
  const { hostname, dir, log } = options;
  await mkdir(dir, { recursive: true, mode: 0o700 });
  // Guests hold on to the cord of the agent that started them, so every cord is kept until the power goes.
  const cords = new Set<Readable | Writable>();
  const stopping = new AbortController();
  let agent: ChildProcess | null = null;

  async function runAgent(): Promise<void> {
    const token = (await identityValidForMs(dir)) > ENOUGH_VALIDITY_MS ? null : await options.mintToken();
    if (stopping.signal.aborted) return;
    const logFile = await open(join(dir, 'agent.log'), 'a', 0o600);
    const child = spawn(process.execPath, [AGENT_MAIN], {
      stdio: ['ignore', logFile.fd, logFile.fd, 'pipe'],
      env: { ...passedOn(), ...options.env, ...agentEnv(options, token) },
    });
    await logFile.close();
    const cord = child.stdio[3];
    if (cord) {
      cords.add(cord);
      cord.on('error', () => undefined);
      cord.on('close', () => cords.delete(cord));
    }
    agent = child;
    const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
    if (!stopping.signal.aborted) log.warn({ hostname, code, signal }, 'node agent ended');
  }

  async function supervise(): Promise<void> {
    while (!stopping.signal.aborted) {
      await runAgent().catch((error: unknown) =>
        log.warn({ hostname, reason: String(error) }, 'node agent not started'),
      );
      agent = null;
      await pause(RESTART_AFTER_MS, null, { signal: stopping.signal }).catch(() => undefined);
    }
  }
  const supervised = supervise();

  return {
    hostname,
    pid: () => agent?.pid ?? null,
    kill: (signal) => void agent?.kill(signal),
    async enrolled(deadlineMs) {
      const end = Date.now() + deadlineMs;
      while ((await identityValidForMs(dir)) === 0) {
        if (Date.now() > end)
          throw new Error(`${hostname} did not enrol in time; see ${join(dir, 'agent.log')}`);
        await pause(50);
      }
    },
    async stop() {
      stopping.abort();
      agent?.kill('SIGTERM');
      const forced = setTimeout(() => agent?.kill('SIGKILL'), STOP_GRACE_MS);
      await supervised;
      clearTimeout(forced);
      for (const cord of cords) cord.destroy();
      await awaitGuestsGone(dir, GUESTS_GONE_MS);
    },
  };
}

function agentEnv(options: MachineOptions, token: string | null): Record<string, string> {
  return {
    GPUAAS_AGENT_DIR: options.dir,
    GPUAAS_AGENT_HOSTNAME: options.hostname,
    GPUAAS_AGENT_HOST: 'simulated',
    GPUAAS_SIM_POWER_FD: '3',
    ...(token ? { GPUAAS_AGENT_TOKEN: token } : {}),
  };
}

/** The agent gets nothing of the platform's own environment, which may hold its secrets. */
function passedOn(): Record<string, string> {
  return Object.fromEntries(
    PASSED_ON.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])),
  );
}
