/** The one clock. Tests may replace `now`. */
export interface Clock {
  now(): Date;
}

export const systemClock: Clock = { now: () => new Date() };

/** A clock that moves only on demand; for tests. */
export function manualClock(start: Date): Clock & { advance(ms: number): void } {
  let time = start.getTime();
  return {
    now: () => new Date(time),
    advance: (ms) => {
      if (ms < 0) throw new RangeError('time does not run backwards');
      time += ms;
    },
  };
}

/** The start of the month of a time, or of a later month; always in UTC. */
export function monthStart(at: Date, later = 0): Date {
  return new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + later, 1));
}

/** The end of a wait. It is kept by the monotonic clock, so that setting the machine's time neither cuts nor stretches it. */
export interface Deadline {
  /** Never negative. */
  remainingMs(): number;
  passed(): boolean;
}

export function deadlineAfter(ms: number): Deadline {
  const end = performance.now() + ms;
  const remainingMs = (): number => Math.max(0, end - performance.now());
  return { remainingMs, passed: () => remainingMs() === 0 };
}
