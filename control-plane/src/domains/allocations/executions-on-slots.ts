import type { Db, Tx } from '../../platform/db/database.ts';

/** Which allocation holds each slot of a host, and what its workflow does now. */
export async function executionsOnSlots(
  db: Db | Tx,
  nodeId: string,
): Promise<Map<string, { allocationId: string; execution: string }>> {
  const rows = await db
    .selectFrom('allocation_resource_claims as c')
    .innerJoin('allocations as a', 'a.id', 'c.allocation_id')
    .select(['c.slot_id', 'a.id', 'a.execution_state'])
    .where('c.node_id', '=', nodeId)
    .where('c.slot_id', 'is not', null)
    .where('c.released_at', 'is', null)
    .execute();
  return new Map(rows.map((row) => [row.slot_id!, { allocationId: row.id, execution: row.execution_state }]));
}
