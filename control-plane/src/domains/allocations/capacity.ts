import type { Tx } from '../../platform/db/database.ts';
import { fromCursor } from '../../platform/db/given.ts';
import type { AllocationRow } from './transition-allocation.ts';

/** What an app needs to know of the allocation it is to run on. */
export interface Capacity {
  id: string;
  name: string;
  shape: AllocationRow['capacity_shape'];
  gpuCount: number;
  /** A slice has sudo; a whole host only if its lease was given root. */
  hasRoot: boolean;
  state: AllocationRow['state'];
  desiredState: AllocationRow['desired_state'];
  observedState: AllocationRow['observed_state'];
  currency: string;
  perGpuHourMicros: bigint;
  ownerUserId: string | null;
}

export function capacityOf(row: AllocationRow): Capacity {
  return {
    id: row.id,
    name: row.name,
    shape: row.capacity_shape,
    gpuCount: row.gpu_count,
    hasRoot: row.capacity_shape === 'gpu_slice' || row.root_granted_at !== null,
    state: row.state,
    desiredState: row.desired_state,
    observedState: row.observed_state,
    currency: row.currency,
    perGpuHourMicros: row.per_gpu_hour_micros,
    ownerUserId: row.owner_user_id,
  };
}

/** Allocations of a project that have not ended, oldest first. */
export async function listCapacity(
  tx: Tx,
  projectId: string,
  page: { after: readonly [string] | null; limit: number },
): Promise<Capacity[]> {
  const rows = await tx
    .selectFrom('allocations')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('state', 'not in', ['released', 'failed'])
    .$call(fromCursor(page.after, (q, [id]) => q.where('id', '>', id)))
    .orderBy('id')
    .limit(page.limit)
    .execute();
  return rows.map(capacityOf);
}

export async function findAllocationNames(
  tx: Tx,
  allocationIds: readonly string[],
): Promise<Map<string, string>> {
  const rows = await tx
    .selectFrom('allocations')
    .select(['id', 'name'])
    .where('id', 'in', allocationIds)
    .execute();
  return new Map(rows.map(({ id, name }) => [id, name]));
}

/** Ended allocations among these that hold nothing any more: a claim ends only when its wipe is proven. */
export async function findProvenClean(
  tx: Tx,
  allocationIds: readonly string[],
): Promise<Map<string, { certificateIds: string[] }>> {
  if (allocationIds.length === 0) return new Map();
  const rows = await tx
    .selectFrom('allocations as a')
    .select('a.id')
    .where('a.id', 'in', allocationIds)
    .where('a.state', 'in', ['released', 'failed'])
    .where((e) =>
      e.not(
        e.exists(
          e
            .selectFrom('allocation_resource_claims as c')
            .select('c.id')
            .whereRef('c.allocation_id', '=', 'a.id')
            .where('c.released_at', 'is', null),
        ),
      ),
    )
    .execute();
  const ids = rows.map(({ id }) => id);
  if (ids.length === 0) return new Map();
  const certificates = await tx
    .selectFrom('wipe_certificates')
    .select(['id', 'allocation_id'])
    .where('allocation_id', 'in', ids)
    .where('verified', '=', true)
    .execute();
  const byAllocation = Map.groupBy(certificates, (one) => one.allocation_id);
  return new Map(
    ids.map((id) => [id, { certificateIds: (byAllocation.get(id) ?? []).map((one) => one.id) }]),
  );
}

/** Those of these allocations that have ended, clean or not. */
export async function findEnded(tx: Tx, allocationIds: readonly string[]): Promise<string[]> {
  if (allocationIds.length === 0) return [];
  const rows = await tx
    .selectFrom('allocations')
    .select('id')
    .where('id', 'in', allocationIds)
    .where('state', 'in', ['released', 'failed'])
    .execute();
  return rows.map(({ id }) => id);
}
