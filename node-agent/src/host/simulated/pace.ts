import { pause } from '../../backoff.ts';
import type { Step } from '../host.ts';

export interface Pace {
  /** Takes about `ms` at speed 1 and tells the percent on the way. */
  spend(ms: number, step: Step): Promise<void>;
  /** A deadline that stays meaningful when delays are switched off. */
  deadlineMs(ms: number): number;
}

const TICKS = 20;

export function createPace(speed: number): Pace {
  return {
    async spend(ms, step) {
      step.signal.throwIfAborted();
      for (let tick = speed > 0 ? 1 : TICKS; tick < TICKS; tick += 1) {
        await pause((ms * speed) / TICKS, step.signal);
        step.signal.throwIfAborted();
        step.percent((tick * 100) / TICKS);
      }
      step.percent(100);
    },
    deadlineMs: (ms) => Math.max(4_000, ms * Math.min(speed, 1)),
  };
}
