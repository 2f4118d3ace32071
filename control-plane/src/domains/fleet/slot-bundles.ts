import type { SlotBundle } from '@gpuaas/contracts/tasks';
import type { Db, Tx } from '../../platform/db/database.ts';

/** Slots as the host needs them, by index. */
export async function slotBundles(db: Db | Tx, slotIds: string[]): Promise<SlotBundle[]> {
  const rows = await db
    .selectFrom('node_resource_slots')
    .select([
      'id as slot_id',
      'slot_index',
      'gpu_pci_address',
      'fabric_vf_pci_address',
      'nvme_serial',
      'nvme_device',
      'management_mac',
      'private_ip',
      'ovs_port',
      'numa_node',
    ])
    .where('id', 'in', slotIds)
    .orderBy('slot_index')
    .execute();
  return rows;
}
