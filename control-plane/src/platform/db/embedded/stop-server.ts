import { setTimeout as sleep } from 'node:timers/promises';
import { EmbeddedPostgresError, errorCode } from './errors.ts';
import { isExiting, isPostmasterOf } from './processes.ts';
import { deadlineAfter } from '../../clock.ts';

const FAST_SHUTDOWN_MS = 10_000;
const IMMEDIATE_SHUTDOWN_MS = 15_000;

/** Ends a postmaster and waits until it is gone; does nothing if it already is. */
export async function stopServer(pid: number, folder: string): Promise<void> {
  if (await stopsAfter('SIGINT', pid, folder, FAST_SHUTDOWN_MS)) return;
  await stopServerImmediately(pid, folder);
}

/** Ends a postmaster without waiting for its sessions; committed data is recovered at the next start. */
export async function stopServerImmediately(pid: number, folder: string): Promise<void> {
  if (await stopsAfter('SIGQUIT', pid, folder, IMMEDIATE_SHUTDOWN_MS)) return;
  throw new EmbeddedPostgresError('stop_failed', `Postgres (pid ${pid}) does not stop.`);
}

async function stopsAfter(
  signal: NodeJS.Signals,
  pid: number,
  folder: string,
  within: number,
): Promise<boolean> {
  // Checked each time: the pid may already belong to another process.
  if (!(await isPostmasterOf(pid, folder))) return true;
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (errorCode(error) === 'ESRCH') return true;
    throw new EmbeddedPostgresError('stop_failed', `Postgres (pid ${pid}) cannot be signalled.`, {
      cause: error,
    });
  }
  for (const deadline = deadlineAfter(within); !deadline.passed(); await sleep(25)) {
    if (!(await isPostmasterOf(pid, folder)) && !(await isExiting(pid))) return true;
  }
  return false;
}
