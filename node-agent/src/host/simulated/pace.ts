import { sleep } from '../../backoff.ts';
import type { HostOperation } from '../host.ts';

export interface Pace {
  /** Takes about `ms` at speed 1 and reports progress in percent. */
  spend(ms: number, step: HostOperation): Promise<void>;
  /** How long to wait for a result that will never come. */
  inVainMs(ms: number): number;
}

const TICKS = 20;

export function createPace(speed: number): Pace {
  return {
    async spend(ms, step) {
      step.signal.throwIfAborted();
      for (let tick = speed > 0 ? 1 : TICKS; tick < TICKS; tick += 1) {
        await sleep((ms * speed) / TICKS, step.signal);
        step.signal.throwIfAborted();
        step.percent((tick * 100) / TICKS);
      }
      step.percent(100);
    },
    inVainMs: (ms) => Math.max(1_000, ms * Math.min(speed, 1)),
  };
}
