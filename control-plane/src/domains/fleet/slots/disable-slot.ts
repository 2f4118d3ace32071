import type { Tx } from '../../../platform/db/database.ts';
import { Problem } from '../../../platform/http/problem.ts';
import { lockSlot } from './lock-slot.ts';
import { emitSlotsChanged } from './transition-slots.ts';

/** Takes a slot out of sale: immediately if it is free, else when the wipe after its tenant is proven. */
export async function disableSlot(
  tx: Tx,
  request: { nodeId: string; slotId: string; reason: string; correlationId: string },
): Promise<void> {
  const slot = await lockSlot(tx, request.nodeId, request.slotId);
  if (slot.state === 'cleanup_blocked') {
    throw new Problem('slot_cleanup_pending', 'Clean the slot, record a proof, or retire it.');
  }
  const free = slot.state === 'available' || slot.state === 'disabled';
  await tx
    .updateTable('node_resource_slots')
    .set({
      desired_state: slot.desired_state === 'retired' ? 'retired' : 'disabled',
      ...(free ? { state: 'disabled', health_detail: `Disabled: ${request.reason}` } : {}),
    })
    .where('id', '=', slot.id)
    .execute();
  await emitSlotsChanged(tx, request.nodeId, request.correlationId);
}
