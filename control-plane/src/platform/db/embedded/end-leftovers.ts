import { setTimeout as sleep } from 'node:timers/promises';
import { deadlineAfter } from '../../clock.ts';
import { processesIn } from './processes.ts';

const LEAVES_ALONE_MS = 3_000;
const ENDED_MS = 10_000;

/**
 * Ends the backends of a postmaster that is gone. Most notice and leave; one that is busy or frozen would keep the shared
 * memory, and with it the next server, waiting. Nothing is lost: without its postmaster no backend can commit safely, and
 * the next start recovers what was committed.
 */
export async function endLeftovers(folder: string): Promise<void> {
  if (await allGone(folder, LEAVES_ALONE_MS)) return;
  for (const pid of await processesIn(folder)) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It left on its own.
    }
  }
  await allGone(folder, ENDED_MS);
}

async function allGone(folder: string, within: number): Promise<boolean> {
  for (const deadline = deadlineAfter(within); !deadline.passed(); await sleep(50))
    if ((await processesIn(folder)).length === 0) return true;
  return false;
}
