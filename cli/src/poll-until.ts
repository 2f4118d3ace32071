import { pause } from '@gpuaas/sdk/pause';
import { CancelledError } from './usage-error.ts';

const FIRST_MS = 250;
const SLOWEST_MS = 3_000;
const DEADLINE_MS = 30 * 60_000;

export interface Poll<Thing> {
  look: () => Promise<Thing>;
  isSettled: (thing: Thing) => boolean;
  /** What to say when the person leaves, or it takes too long. */
  goesOn: string;
}

/** Looks again, less and less often, until it is settled. Ctrl-C ends the waiting, not the work. */
export async function pollUntil<Thing>({ look, isSettled, goesOn }: Poll<Thing>): Promise<Thing> {
  const left = new AbortController();
  const leave = (): void => left.abort();
  process.once('SIGINT', leave);
  const deadline = Date.now() + DEADLINE_MS;
  try {
    for (let wait = FIRST_MS; ; wait = Math.min(wait * 1.5, SLOWEST_MS)) {
      const thing = await look();
      if (isSettled(thing)) return thing;
      if (Date.now() > deadline) throw new Error(`It is not done after half an hour. ${goesOn}`);
      await pause(wait, left.signal);
      if (left.signal.aborted) throw new CancelledError(goesOn);
    }
  } finally {
    process.off('SIGINT', leave);
  }
}
