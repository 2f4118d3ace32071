import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Tx } from '../../platform/db/database.ts';
import { allocationOverviews } from '../read-models/find-overviews.ts';
import { describeAllocation } from './describe-allocation.ts';
import type { AllocationRow } from './move-allocation.ts';
import { outagesOf } from './outages-of.ts';
import { queueStandings } from './queue/standings.ts';

/** One allocation with what only other tables know of it. */
export async function showAllocation(
  tx: Tx,
  row: AllocationRow,
  now: Date,
): Promise<components['schemas']['Allocation']> {
  const overviews = await allocationOverviews(tx, [row.id]);
  const standings = row.state === 'queued' ? await queueStandings(tx, [row.id]) : new Map();
  const outages = await outagesOf(tx, [row.id]);
  return describeAllocation(
    row,
    now,
    overviews.get(row.id) ?? null,
    standings.get(row.id) ?? null,
    outages.get(row.id),
  );
}
