import type { Tx } from '../../../platform/db/database.ts';
import { emitSlotsChanged } from './transition-slots.ts';

/** The slot stays in the records and out of sale; only a verified wipe could ever make it available. */
export async function retireBlockedSlot(
  tx: Tx,
  nodeId: string,
  slotId: string,
  reason: string,
  correlationId: string,
): Promise<void> {
  await tx
    .updateTable('node_resource_slots')
    .set({ state: 'disabled', desired_state: 'retired', health_detail: `Retired: ${reason}` })
    .where('id', '=', slotId)
    .execute();
  await emitSlotsChanged(tx, nodeId, correlationId);
}
