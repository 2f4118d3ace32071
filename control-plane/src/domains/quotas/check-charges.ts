import { incrementsFor, counterKey, type Charge, type Counter } from './counter.ts';
import type { EffectiveLimit } from './effective-limit.ts';
import { get } from '../../platform/present.ts';

export interface CounterUsage extends EffectiveLimit {
  used: bigint;
}

export interface QuotaExcess extends CounterUsage {
  counter: Counter;
  asked: bigint;
}

/**
 * Which charges the counters still allow, in order: an allowed charge counts for the next. A refused charge
 * counts for nothing, and names every limit that it would exceed.
 */
export function checkCharges(
  charges: readonly Charge[],
  standings: ReadonlyMap<string, CounterUsage>,
): QuotaExcess[][] {
  const taken = new Map<string, bigint>();
  const takenOf = (counter: Counter): bigint => taken.get(counterKey(counter)) ?? 0n;
  return charges.map((charge) => {
    const asks = incrementsFor(charge).map(({ counter, amount }): QuotaExcess => {
      const standing = get(standings, counterKey(counter), 'standing');
      return { ...standing, counter, asked: amount, used: standing.used + takenOf(counter) };
    });
    const exceeded = asks.filter(({ used, asked, limit }) => used + asked > limit);
    if (exceeded.length === 0) {
      for (const { counter, asked } of asks) taken.set(counterKey(counter), takenOf(counter) + asked);
    }
    return exceeded;
  });
}
