import { repeat, type RepeatHandle } from '../repeat.ts';
import type { Services } from '../services.ts';
import { sealRows } from './seal.ts';

const POLL_MS = 1000;

/** Seals for as long as the process lives. Any number of processes may; the lock in the database elects one. */
export function startSealer(services: Pick<Services, 'db' | 'clock' | 'keys' | 'log'>): RepeatHandle {
  let stopping = false;
  const loop = repeat(
    POLL_MS,
    async () => {
      await sealRows(services, () => stopping);
    },
    (error) => services.log.warn({ err: error }, 'audit rows could not be sealed; trying again'),
  );
  return {
    async stop() {
      stopping = true;
      await loop.stop();
    },
  };
}
