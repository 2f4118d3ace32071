import { sleep } from '@gpuaas/sdk/sleep';
import { CancelledError } from './usage-error.ts';

const FIRST_MS = 250;
const SLOWEST_MS = 3_000;
const DEADLINE_MS = 30 * 60_000;

export interface Poll<Thing> {
  poll: () => Promise<Thing>;
  isSettled: (thing: Thing) => boolean;
  /** Message when the person interrupts, or it takes too long. */
  goesOn: string;
}

/** Polls with growing delays until the state is settled. Ctrl-C ends the waiting, not the work. */
export async function pollUntil<Thing>({ poll, isSettled, goesOn }: Poll<Thing>): Promise<Thing> {
  const left = new AbortController();
  const leave = (): void => left.abort();
  process.once('SIGINT', leave);
  const deadline = Date.now() + DEADLINE_MS;
  try {
    for (let wait = FIRST_MS; ; wait = Math.min(wait * 1.5, SLOWEST_MS)) {
      const thing = await poll();
      if (isSettled(thing)) return thing;
      if (Date.now() > deadline) throw new Error(`Not finished after 30 minutes. ${goesOn}`);
      await sleep(wait, left.signal);
      if (left.signal.aborted) throw new CancelledError(goesOn);
    }
  } finally {
    process.off('SIGINT', leave);
  }
}
