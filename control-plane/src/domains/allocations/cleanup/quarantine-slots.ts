import type { Tx } from '../../../platform/db/database.ts';
import { emitSlotsChanged } from '../../fleet/slots/transition-slots.ts';
import type { AllocationRow } from '../transition-allocation.ts';
import { shapeOf } from '../shapes/shape-of.ts';

/**
 * Takes everything an allocation still holds out of sale: it may contain the tenant's data until its cleanup is
 * proven. Quarantined if only an operator may go on, `cleaning` while the platform may.
 */
export async function quarantineHeldSlots(
  tx: Tx,
  allocation: AllocationRow,
  detail: string,
  to: 'cleanup_blocked' | 'cleaning' = 'cleanup_blocked',
): Promise<void> {
  if (!allocation.node_id) return;
  const move = {
    to,
    health: { state: 'unhealthy', detail: detail.slice(0, 500) },
  } as const;
  await shapeOf(allocation).moveHeld(tx, allocation, move);
  await emitSlotsChanged(tx, allocation.node_id, allocation.correlation_id);
}
