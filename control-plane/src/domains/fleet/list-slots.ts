import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Db, Tx } from '../../platform/db/database.ts';
import { notFound } from '../../platform/http/problem.ts';

type ResourceSlot = components['schemas']['ResourceSlot'];

/** Approved slots of a host, with the allocation that holds each. */
export async function listSlots(db: Db | Tx, nodeId: string): Promise<ResourceSlot[]> {
  const node = await db.selectFrom('nodes').select('id').where('id', '=', nodeId).executeTakeFirst();
  if (!node) throw notFound();
  const rows = await db
    .selectFrom('node_resource_slots as s')
    .leftJoin('allocation_resource_claims as c', (join) =>
      join.onRef('c.slot_id', '=', 's.id').on('c.released_at', 'is', null),
    )
    .selectAll('s')
    .select('c.allocation_id')
    .where('s.node_id', '=', nodeId)
    .orderBy('s.slot_index')
    .execute();
  return rows.map((row) => ({
    id: row.id,
    node_id: row.node_id,
    slot_index: row.slot_index,
    state: row.state as ResourceSlot['state'],
    desired_state: row.desired_state as ResourceSlot['desired_state'],
    gpu_model: row.gpu_model,
    gpu_pci_address: row.gpu_pci_address,
    fabric_vf_pci_address: row.fabric_vf_pci_address,
    nvme_serial: row.nvme_serial,
    nvme_device: row.nvme_device,
    management_mac: row.management_mac,
    private_ip: row.private_ip,
    ovs_port: row.ovs_port,
    numa_node: row.numa_node,
    pcie_root: row.pcie_root,
    vcpu: row.vcpu,
    memory_gib: row.memory_gib,
    health_state: row.health_state as ResourceSlot['health_state'],
    health_detail: row.health_detail,
    capacity_metadata: row.capacity_metadata as ResourceSlot['capacity_metadata'],
    allocation_id: row.allocation_id,
  }));
}

export async function getSlot(db: Db | Tx, nodeId: string, slotId: string): Promise<ResourceSlot> {
  const slot = (await listSlots(db, nodeId)).find((candidate) => candidate.id === slotId);
  if (!slot) throw notFound();
  return slot;
}
