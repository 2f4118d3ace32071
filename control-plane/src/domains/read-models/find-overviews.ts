import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Db, Tx } from '../../platform/db/database.ts';

type Schemas = components['schemas'];

export interface ProjectedState {
  state: Schemas['AllocationState'];
  stage: string;
  projected_at: Date;
}

/** Latest read-model state of these allocations. */
export async function allocationOverviews(
  db: Db | Tx,
  allocationIds: string[],
): Promise<Map<string, ProjectedState>> {
  if (allocationIds.length === 0) return new Map();
  const rows = await db
    .selectFrom('allocation_overviews')
    .select(['allocation_id', 'state', 'stage', 'projected_at'])
    .where('allocation_id', 'in', allocationIds)
    .execute();
  return new Map(rows.map(({ allocation_id, ...projected }) => [allocation_id, projected]));
}

/** Latest read-model state of these hosts. */
export async function nodeOverviews(
  db: Db | Tx,
  nodeIds: string[],
): Promise<Map<string, { posture: Schemas['Posture']; projectedAt: Date }>> {
  const rows = await db
    .selectFrom('node_overviews')
    .select(['node_id', 'posture', 'projected_at as projectedAt'])
    .where('node_id', 'in', nodeIds)
    .execute();
  return new Map(rows.map(({ node_id, ...projected }) => [node_id, projected]));
}

/** Latest read-model state of a host's slots. */
export async function slotOverviews(
  db: Db | Tx,
  nodeId: string,
): Promise<Map<string, { state: Schemas['SlotState']; projectedAt: Date }>> {
  const rows = await db
    .selectFrom('slot_overviews')
    .select(['slot_id', 'state', 'projected_at as projectedAt'])
    .where('node_id', '=', nodeId)
    .execute();
  return new Map(rows.map(({ slot_id, ...projected }) => [slot_id, projected]));
}
