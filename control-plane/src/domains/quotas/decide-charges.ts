import { asksOf, counterKey, type Charge, type Counter } from './counter.ts';
import type { EffectiveLimit } from './effective-limit.ts';

export interface Standing extends EffectiveLimit {
  used: bigint;
}

export interface Excess extends Standing {
  counter: Counter;
  asked: bigint;
}

/**
 * Which charges the counters still allow, one after the other: what is allowed counts for the next. A refused charge
 * counts for nothing, and names every limit that it would exceed.
 */
export function decideCharges(
  charges: readonly Charge[],
  standings: ReadonlyMap<string, Standing>,
): Excess[][] {
  const taken = new Map<string, bigint>();
  const takenOf = (counter: Counter): bigint => taken.get(counterKey(counter)) ?? 0n;
  return charges.map((charge) => {
    const asks = asksOf(charge).map(({ counter, amount }): Excess => {
      const standing = standings.get(counterKey(counter))!;
      return { ...standing, counter, asked: amount, used: standing.used + takenOf(counter) };
    });
    const exceeded = asks.filter(({ used, asked, limit }) => used + asked > limit);
    if (exceeded.length === 0) {
      for (const { counter, asked } of asks) taken.set(counterKey(counter), takenOf(counter) + asked);
    }
    return exceeded;
  });
}
