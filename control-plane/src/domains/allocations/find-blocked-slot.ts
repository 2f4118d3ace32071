import type { SlotBundle } from '@gpuaas/contracts/tasks';
import type { Tx } from '../../platform/db/database.ts';
import { notFound, Problem } from '../../platform/http/problem.ts';
import { lockAllocation, type AllocationRow } from './move-allocation.ts';

export interface BlockedClaim {
  slotId: string;
  nodeId: string;
  allocation: AllocationRow;
  /** The slot as it was sold. */
  sold: SlotBundle;
}

/** The quarantined slot and the allocation that still holds it, both locked; refuses while a workflow cleans it. */
export async function findBlockedSlot(tx: Tx, slotId: string): Promise<BlockedClaim> {
  const claim = await tx
    .selectFrom('allocation_resource_claims')
    .select(['allocation_id', 'snapshot'])
    .where('slot_id', '=', slotId)
    .where('released_at', 'is', null)
    .executeTakeFirst();
  // Allocation first, then slot: the order in which workflows take them.
  const allocation = claim && (await lockAllocation(tx, claim.allocation_id));
  const slot = await tx
    .selectFrom('node_resource_slots')
    .select(['id', 'node_id', 'state'])
    .where('id', '=', slotId)
    .forUpdate()
    .executeTakeFirst();
  if (!slot) throw notFound();
  if (slot.state !== 'cleanup_blocked' || !allocation) {
    throw new Problem('slot_not_blocked', `The slot is ${slot.state}; there is nothing to clean.`);
  }
  if (isCleaning(allocation)) {
    throw new Problem('cleanup_running', 'Wait for the workflow that is cleaning it.');
  }
  const sold = claim.snapshot as unknown as SlotBundle;
  return { slotId, nodeId: slot.node_id, allocation, sold };
}

/** Only these rest; in every other state a workflow is on its way. */
export function isCleaning({
  state,
  execution_state,
}: Pick<AllocationRow, 'state' | 'execution_state'>): boolean {
  if (state === 'release_failed') return false;
  return !((state === 'failed' || state === 'released') && execution_state === 'idle');
}
