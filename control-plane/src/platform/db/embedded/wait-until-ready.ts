import { setTimeout as sleep } from 'node:timers/promises';
import { probe } from './connection.ts';
import { errorCode } from './errors.ts';
import { deadlineAfter } from '../../clock.ts';

const READY_WITHIN_MS = 30_000;
/** A recovering server makes progress; killing it would only restart the recovery. */
const RECOVERED_WITHIN_MS = 10 * 60_000;
const STARTING_UP = '57P03';

export type Readiness = 'ready' | 'exited' | 'timed_out' | 'cancelled';

/** Connects until the server accepts sessions, has ended, has timed out, or the start is cancelled. */
export async function waitUntilReady(
  url: string,
  stillRuns: () => boolean | Promise<boolean>,
  signal?: AbortSignal,
): Promise<Readiness> {
  const ready = deadlineAfter(READY_WITHIN_MS);
  const recovered = deadlineAfter(RECOVERED_WITHIN_MS);
  for (let recovering = false; ;) {
    if (signal?.aborted) return 'cancelled';
    if (!(await stillRuns())) return 'exited';
    try {
      await probe(url);
      return 'ready';
    } catch (error) {
      recovering = errorCode(error) === STARTING_UP;
    }
    if ((recovering ? recovered : ready).passed()) return 'timed_out';
    await sleep(40);
  }
}
