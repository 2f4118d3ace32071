import type { Tx } from '../../../platform/db/database.ts';
import type { SliceProfile } from '../../catalog/slice-profile.ts';

/** From now on the database holds the slots of the host to this sum. */
export async function setSellableCapacity(tx: Tx, nodeId: string, sellable: SliceProfile): Promise<void> {
  await tx
    .updateTable('nodes')
    .set({ sellable_vcpu: sellable.vcpu, sellable_memory_gib: sellable.memoryGib })
    .where('id', '=', nodeId)
    .execute();
}
