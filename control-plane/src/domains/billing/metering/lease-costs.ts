import type { Db } from '../../../platform/db/database.ts';
import type { Services } from '../../../platform/services.ts';
import { leaseCost, type LeaseCost } from './accrual.ts';
import { readMetersOf } from './read-open-meters.ts';

/** Cost so far by allocation; allocations that never became active are omitted and cost nothing. */
export async function leaseCosts(
  { policies, clock }: Pick<Services, 'policies' | 'clock'>,
  db: Db,
  allocationIds: readonly string[],
): Promise<Map<string, LeaseCost>> {
  const unreachable = policies.get('fleet.unreachable_after_seconds');
  const now = clock.now();
  const meters = await readMetersOf(db, allocationIds);
  return new Map(
    meters.map(({ allocationId, meter, facts }) => [allocationId, leaseCost(meter, facts, unreachable, now)]),
  );
}
