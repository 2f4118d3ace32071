import { setTimeout as sleep } from 'node:timers/promises';
import { probe } from './connection.ts';
import { errorCode } from './errors.ts';

const READY_WITHIN_MS = 30_000;
/** A server that says it is recovering makes progress; killing it would only restart the recovery. */
const RECOVERED_WITHIN_MS = 10 * 60_000;
const STARTING_UP = '57P03';

export type Readiness = 'ready' | 'exited' | 'timed_out';

/** Connects until the server takes sessions, has ended, or has used up its time. */
export async function waitUntilReady(
  url: string,
  stillRuns: () => boolean | Promise<boolean>,
): Promise<Readiness> {
  const began = Date.now();
  for (let recovering = false; ;) {
    if (!(await stillRuns())) return 'exited';
    try {
      await probe(url);
      return 'ready';
    } catch (error) {
      recovering = errorCode(error) === STARTING_UP;
    }
    if (Date.now() - began > (recovering ? RECOVERED_WITHIN_MS : READY_WITHIN_MS)) return 'timed_out';
    await sleep(40);
  }
}
