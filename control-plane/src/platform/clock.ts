/** The one clock. Tests may replace `now`. */
export interface Clock {
  now(): Date;
}

export const systemClock: Clock = { now: () => new Date() };

/** A clock that moves only when told; for tests. */
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
