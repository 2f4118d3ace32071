import type { Db, Tx } from '../../platform/db/database.ts';
import type { AllocationRow } from './transition-allocation.ts';

/** The allocation of each slot of a host, and the current step of its workflow. */
export async function listSlotExecutions(
  db: Db | Tx,
  nodeId: string,
): Promise<Map<string, { allocationId: string; execution: AllocationRow['execution_state'] }>> {
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
