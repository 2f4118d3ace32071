import type { Db, Tx } from '../../platform/db/database.ts';

export interface ProjectedState {
  state: string;
  stage: string;
  projected_at: Date;
}

/** What the read model last showed of these allocations. */
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
