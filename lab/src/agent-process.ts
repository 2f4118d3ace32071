import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { open } from 'node:fs/promises';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import type { LabLog } from './lab-log.ts';

const RESTART_AFTER_MS = 1_000;
const STOP_GRACE_MS = 5_000;
const PASSED_ON = ['PATH', 'HOME', 'TMPDIR', 'LANG', 'GPUAAS_LOG_LEVEL'];

export interface AgentProcessOptions {
  name: string;
  logFile: string;
  /** Arguments and environment of the next start. */
  prepare: () => Promise<{ args: string[]; env: Record<string, string> }>;
  log: LabLog;
}

/** A process of agents that is restarted when it ends, and the power cord of the machines it drives. */
export interface AgentProcess {
  pid(): number | null;
  kill(signal: NodeJS.Signals): void;
  /** Ends the process and cuts the power. */
  stop(): Promise<void>;
}

export function startAgentProcess({ name, logFile, prepare, log }: AgentProcessOptions): AgentProcess {
  // Guests keep the cord of the process that started them, so every cord is kept until the power goes.
  const cords = new Set<Readable | Writable>();
  const stopping = new AbortController();
  let child: ChildProcess | null = null;

  async function run(): Promise<void> {
    const { args, env } = await prepare();
    if (stopping.signal.aborted) return;
    const output = await open(logFile, 'a', 0o600);
    const started = spawn(process.execPath, args, {
      stdio: ['ignore', output.fd, output.fd, 'pipe'],
      env: { ...passedOn(), ...env, GPUAAS_SIM_POWER_FD: '3' },
    });
    await output.close();
    const cord = started.stdio[3];
    if (cord) {
      cords.add(cord);
      cord.on('error', () => undefined);
      cord.on('close', () => cords.delete(cord));
    }
    child = started;
    const [code, signal] = (await once(started, 'exit')) as [number | null, NodeJS.Signals | null];
    if (!stopping.signal.aborted) log.warn({ hostname: name, code, signal }, 'node agent ended');
  }

  async function supervise(): Promise<void> {
    while (!stopping.signal.aborted) {
      await run().catch((error: unknown) =>
        log.warn({ hostname: name, reason: String(error) }, 'node agent not started'),
      );
      child = null;
      await pause(RESTART_AFTER_MS, null, { signal: stopping.signal }).catch(() => undefined);
    }
  }
  const supervised = supervise();

  return {
    pid: () => child?.pid ?? null,
    kill: (signal) => void child?.kill(signal),
    async stop() {
      stopping.abort();
      child?.kill('SIGTERM');
      const forced = setTimeout(() => child?.kill('SIGKILL'), STOP_GRACE_MS);
      await supervised;
      clearTimeout(forced);
      for (const cord of cords) cord.destroy();
    },
  };
}

/** The agent inherits nothing of the platform's environment, which may contain its secrets. */
function passedOn(): Record<string, string> {
  return Object.fromEntries(
    PASSED_ON.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])),
  );
}
