import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { LeaseTimings } from '../engine.ts';

export interface WorkerProcess {
  child: ChildProcess;
  /** Resolves with the executor id when the worker runs. */
  ready: Promise<string>;
  exited: Promise<void>;
}

const MAIN = join(import.meta.dirname, 'worker-main.ts');

/** A real worker process over a test database. */
export function spawnWorkerProcess(
  databaseUrl: string,
  options: { timings?: LeaseTimings; concurrency?: number; env?: Record<string, string> } = {},
): WorkerProcess {
  const child = spawn(process.execPath, ['--disable-warning=DeprecationWarning', MAIN], {
    env: {
      ...process.env,
      DATABASE_URL: databaseUrl,
      GPUAAS_LOG_LEVEL: process.env['GPUAAS_TEST_LOG'] ?? 'error',
      ...(options.timings ? { TEST_LEASE_TIMINGS: JSON.stringify(options.timings) } : {}),
      ...(options.concurrency ? { TEST_CONCURRENCY: String(options.concurrency) } : {}),
      ...options.env,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit').then(() => undefined);
  const ready = Promise.race([
    once(child.stdout, 'data').then(([line]: Buffer[]) => line!.toString().trim()),
    exited.then(() => Promise.reject(new Error('the worker ended before it was ready'))),
  ]);
  ready.catch(() => undefined);
  return { child, ready, exited };
}

export async function killWorker({ child, exited }: WorkerProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
  await exited;
}
