export type Standing = 'good' | 'low' | 'exhausted' | 'stopped';

export interface StandingFacts {
  available: bigint;
  runsOutAt: Date | null;
  /** Standing at the last check, and until when leases may keep running. */
  before: { standing: Standing; stopsAt: Date | null };
  warnSeconds: number;
  graceSeconds: number;
  now: Date;
}

/** The tenant's standing now. Grace is granted once each time the funds run out, and only new funds end it. */
export function decideStanding(facts: StandingFacts): { standing: Standing; stopsAt: Date | null } {
  const { available, runsOutAt, before, now } = facts;
  if (available > 0n) {
    const low = runsOutAt !== null && runsOutAt.getTime() - now.getTime() <= facts.warnSeconds * 1000;
    return { standing: low ? 'low' : 'good', stopsAt: null };
  }
  if (before.standing === 'stopped') return { standing: 'stopped', stopsAt: null };
  // Nothing runs, so there is nothing to stop.
  if (runsOutAt === null && before.standing !== 'exhausted') return { standing: 'low', stopsAt: null };
  const stopsAt = before.stopsAt ?? new Date(now.getTime() + facts.graceSeconds * 1000);
  return stopsAt <= now ? { standing: 'stopped', stopsAt: null } : { standing: 'exhausted', stopsAt };
}
