/** A period in which a lease was not seen to be served, and what later evidence of the host says about it. */
export interface Outage {
  served: boolean;
  beganAt: Date;
  /** Null while it lasts. */
  endedAt: Date | null;
  revision: bigint;
}

/** Whole seconds of a lease, counted from its start. All code converts times to seconds with this. */
export function leaseSecond(startedAt: Date, at: Date): bigint {
  return BigInt(Math.max(0, Math.floor((at.getTime() - startedAt.getTime()) / 1000)));
}

/** How many of the seconds `from` to `to` of a lease were served. Outages may come in any order and overlap. */
export function servedSeconds(
  startedAt: Date,
  from: bigint,
  to: bigint,
  outages: readonly Pick<Outage, 'served' | 'beganAt' | 'endedAt'>[],
): bigint {
  const missing = outages
    .filter((outage) => !outage.served)
    .map(({ beganAt, endedAt }) => ({
      from: max(from, leaseSecond(startedAt, beganAt)),
      to: endedAt ? min(to, leaseSecond(startedAt, endedAt)) : to,
    }))
    .toSorted((a, b) => (a.from < b.from ? -1 : 1));
  let served = to - from;
  let counted = from;
  for (const gap of missing) {
    const begin = max(gap.from, counted);
    if (gap.to <= begin) continue;
    served -= gap.to - begin;
    counted = gap.to;
  }
  return served;
}

const max = (a: bigint, b: bigint): bigint => (a > b ? a : b);
const min = (a: bigint, b: bigint): bigint => (a < b ? a : b);
