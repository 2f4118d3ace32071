import type { Tx } from '../../platform/db/database.ts';
import { get } from '../../platform/present.ts';
import type { Policies } from '../../platform/policy/policies.ts';
import type { QuotaExcess } from './check-charges.ts';
import { holdCounters, usageByCounter } from './check-quotas.ts';
import { counterKey, type CounterIncrement } from './counter.ts';

export type { CounterIncrement } from './counter.ts';

/** Limits that these increments together would exceed. Locks the counters until the transaction ends. */
export async function checkIncrements(
  policies: Policies,
  tx: Tx,
  increments: readonly CounterIncrement[],
): Promise<QuotaExcess[]> {
  const rows = await holdCounters(
    tx,
    increments.map(({ counter }) => counter),
  );
  const usage = usageByCounter(policies, rows);
  return increments
    .map(({ counter, amount }) => ({
      ...get(usage, counterKey(counter), 'counter'),
      counter,
      asked: amount,
    }))
    .filter(({ used, asked, limit }) => used + asked > limit);
}
