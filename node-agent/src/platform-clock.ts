/** This host's clock beside the platform's. Dates that the platform wrote are judged by the platform's time. */
export interface PlatformClock {
  /** This host's own clock. */
  localNow(): Date;
  /** The platform's time as last measured; this host's own before the first answer. */
  now(): Date;
  /** This host minus platform; null before the first answer. */
  offsetMs(): number | null;
  /** An answer that names the platform's time to the millisecond. */
  noteTime(serverTime: string, sentAt: Date): void;
  /** The date header of any answer: to the second, but on every answer. */
  noteDate(header: string | undefined): void;
}

/** Below this a date header is no better than the known offset. */
const COARSE_MS = 5_000;

export function createPlatformClock(local: () => number = Date.now): PlatformClock {
  let offset: number | null = null;
  return {
    localNow: () => new Date(local()),
    now: () => new Date(local() - (offset ?? 0)),
    offsetMs: () => offset,
    noteTime(serverTime, sentAt) {
      const server = Date.parse(serverTime);
      if (Number.isNaN(server)) return;
      // The answer was written about half-way between question and answer.
      offset = Math.round((sentAt.getTime() + local()) / 2 - server);
    },
    noteDate(header) {
      const server = Date.parse(header ?? '');
      if (Number.isNaN(server)) return;
      const seen = local() - server;
      if (offset === null || Math.abs(seen - offset) > COARSE_MS) offset = seen;
    },
  };
}
