import type { SlotBundle } from '@gpuaas/contracts/tasks';
import type { Tx } from '../../../platform/db/database.ts';
import { notFound, Problem } from '../../../platform/http/problem.ts';
import { lockAllocation, type AllocationRow } from '../transition-allocation.ts';

export interface BlockedClaim {
  slotId: string;
  nodeId: string;
  allocation: AllocationRow;
  /** The slot as it was leased. */
  sold: SlotBundle;
  /** The card of the slot; null where it has no serial. */
  gpuSerial: string | null;
}

/**
 * The quarantined slot and the allocation that still holds it, both locked; throws while a workflow cleans
 * it.
 */
export async function findBlockedSlot(tx: Tx, slotId: string): Promise<BlockedClaim> {
  const claim = await tx
    .selectFrom('allocation_resource_claims')
    .select((e) => ['allocation_id', e.ref('snapshot').$castTo<SlotBundle>().as('sold')])
    .where('slot_id', '=', slotId)
    .where('released_at', 'is', null)
    .executeTakeFirst();
  // Allocation first, then slot: the lock order of workflows.
  const allocation = claim && (await lockAllocation(tx, claim.allocation_id));
  const slot = await tx
    .selectFrom('node_resource_slots')
    .select(['id', 'node_id', 'state', 'gpu_serial'])
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
  return { slotId, nodeId: slot.node_id, allocation, sold: claim.sold, gpuSerial: slot.gpu_serial };
}

/** Only these states are at rest; in every other state a workflow is running. */
export function isCleaning({
  state,
  execution_state,
}: Pick<AllocationRow, 'state' | 'execution_state'>): boolean {
  if (state === 'release_failed') return false;
  return !((state === 'failed' || state === 'released') && execution_state === 'idle');
}
