import type { Tx } from '../../platform/db/database.ts';
import { emitSlotsChanged, moveNodeSlots, moveSlots } from '../fleet/slot-states.ts';
import { claimedSlots } from './claims.ts';
import { isBaremetal, type AllocationRow } from './move-allocation.ts';

/** Whatever an allocation still holds may carry its data, and is out of sale until its cleanup is proven. */
export async function quarantineHeld(tx: Tx, allocation: AllocationRow, detail: string): Promise<void> {
  if (!allocation.node_id) return;
  const move = {
    to: 'cleanup_blocked',
    health: { state: 'unhealthy', detail: detail.slice(0, 500) },
  } as const;
  const slots = await claimedSlots(tx, allocation.id);
  if (isBaremetal(allocation)) await moveNodeSlots(tx, allocation.node_id, move);
  else if (slots.length > 0)
    await moveSlots(
      tx,
      slots.map((slot) => slot.slot_id),
      move,
    );
  await emitSlotsChanged(tx, allocation.node_id, allocation.correlation_id);
}
