/** A window of time that has passed, `from` included and `to` not. */
export interface Period {
  from: Date;
  to: Date;
}

/** Handling of periods missed during downtime: run only the last one, or each in order. */
export type CatchUp = 'skip' | 'each';

export interface DuePeriods {
  periods: Period[];
  /** Passed over by policy. */
  skipped: number;
}

/** The last period that is over at `now`. Periods are aligned to the epoch, so that every process counts alike. */
export function lastPassedPeriod(everySeconds: number, now: Date): Period {
  const length = everySeconds * 1000;
  const to = Math.floor(now.getTime() / length) * length;
  return { from: new Date(to - length), to: new Date(to) };
}

/** Periods to run now, oldest first. Without a history there is nothing to catch up on. */
export function duePeriods(
  tick: { everySeconds: number; catchUp: CatchUp },
  lastDone: Date | null,
  now: Date,
): DuePeriods {
  const length = tick.everySeconds * 1000;
  const last = lastPassedPeriod(tick.everySeconds, now);
  if (!lastDone) return { periods: [last], skipped: 0 };
  // A changed interval leaves starts that are not aligned to the new one.
  const done = Math.floor(lastDone.getTime() / length) * length;
  const missing = (last.from.getTime() - done) / length;
  if (missing <= 0) return { periods: [], skipped: 0 };
  if (tick.catchUp === 'skip') return { periods: [last], skipped: missing - 1 };
  const periods = Array.from({ length: missing }, (_, index) => {
    const from = done + (index + 1) * length;
    return { from: new Date(from), to: new Date(from + length) };
  });
  return { periods, skipped: 0 };
}
