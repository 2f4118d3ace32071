import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Db, Tx } from '../../../platform/db/database.ts';
import { notFound } from '../../../platform/http/problem.ts';
import { platformResourceName } from '../../../platform/ids.ts';
import type { FleetNeeds } from '../needs.ts';
import { isConnected, type Observer } from '../health/connection.ts';
import { deriveSlotStates } from './derive-slot-states.ts';

type ResourceSlot = components['schemas']['ResourceSlot'];
export type SlotObserver = Observer & FleetNeeds;

/** Approved slots of a host, with their allocations. */
export async function listSlots(
  observer: SlotObserver,
  db: Db | Tx,
  nodeId: string,
): Promise<ResourceSlot[]> {
  const node = await db
    .selectFrom('nodes')
    .select(['region', 'observed', 'last_heartbeat_at'])
    .where('id', '=', nodeId)
    .executeTakeFirst();
  if (!node) throw notFound();
  const connected = isConnected(observer, node.last_heartbeat_at);
  const rows = await db
    .selectFrom('node_resource_slots')
    .selectAll()
    .where('node_id', '=', nodeId)
    .orderBy('slot_index')
    .execute();
  const holders = await observer.leases.listSlotExecutions(db, nodeId);
  const overviews = await observer.overviews.slotOverviews(db, nodeId);
  return rows.map((row) => ({
    id: row.id,
    resource_name: platformResourceName(node.region, 'resource_slot', row.id),
    node_id: row.node_id,
    slot_index: row.slot_index,
    state: row.state,
    desired_state: row.desired_state,
    states: deriveSlotStates({
      slot: row,
      connected,
      observed: node.observed,
      execution: holders.get(row.id)?.execution ?? null,
      projected: overviews.get(row.id) ?? null,
    }),
    gpu_model: row.gpu_model,
    gpu_pci_address: row.gpu_pci_address,
    fabric_vf_pci_address: row.fabric_vf_pci_address,
    gpu_serial: row.gpu_serial,
    nvme_serial: row.nvme_serial,
    nvme_device: row.nvme_device,
    management_mac: row.management_mac,
    private_ip: row.private_ip,
    ovs_port: row.ovs_port,
    numa_node: row.numa_node,
    pcie_root: row.pcie_root,
    vcpu: row.vcpu,
    memory_gib: row.memory_gib,
    health_state: row.health_state,
    health_detail: row.health_detail,
    // The column is what constraints and placement read; older rows have a copy.
    capacity_metadata: { ...row.capacity_metadata, fabric_vf_pci_address: row.fabric_vf_pci_address },
    allocation_id: holders.get(row.id)?.allocationId ?? null,
  }));
}

export async function getSlot(
  observer: SlotObserver,
  db: Db | Tx,
  nodeId: string,
  slotId: string,
): Promise<ResourceSlot> {
  const slot = (await listSlots(observer, db, nodeId)).find((candidate) => candidate.id === slotId);
  if (!slot) throw notFound();
  return slot;
}
