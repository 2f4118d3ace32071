import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Db, Tx } from '../../platform/db/database.ts';
import type { Services } from '../../platform/services.ts';
import { leaseCosts } from '../billing/metering/lease-costs.ts';
import { allocationOverviews } from '../read-models/find-overviews.ts';
import { describeAllocation } from './describe-allocation.ts';
import type { AllocationRow } from './transition-allocation.ts';
import { queueStatusByAllocation } from './queue/queue-status.ts';
import { first } from '../../platform/present.ts';

type Allocation = components['schemas']['Allocation'];
type Needs = Pick<Services, 'policies' | 'clock'>;

/** One allocation with what only other tables know of it. */
export async function showAllocation(services: Needs, tx: Tx, row: AllocationRow): Promise<Allocation> {
  return first(await showAllocations(services, tx, [row]), 'allocation');
}

export async function showAllocations(
  services: Needs,
  db: Db,
  rows: readonly AllocationRow[],
): Promise<Allocation[]> {
  const ids = rows.map(({ id }) => id);
  const overviews = await allocationOverviews(db, ids);
  const queued = rows.filter(({ state }) => state === 'queued').map(({ id }) => id);
  const standings = await queueStatusByAllocation(db, queued);
  const costs = await leaseCosts(services, db, ids);
  return rows.map((row) =>
    describeAllocation(row, {
      overview: overviews.get(row.id),
      queue: standings.get(row.id),
      cost: costs.get(row.id),
    }),
  );
}
