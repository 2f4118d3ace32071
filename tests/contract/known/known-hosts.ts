import { newId } from '@gpuaas/control-plane/platform/ids';
import type { TestApi } from '../../harness/api.ts';
import { blockSlot } from '../../harness/allocations/blocked-slot.ts';
import { addDiscovery, addNode, approveAll, candidate, discovered } from '../../harness/fleet/fleet.ts';
import { ask } from './ask.ts';
import type { KnownValues } from '../known-resources.ts';

/** Hosts with slots and disks in the states that the operations on them need. */
export async function seedSlots(
  api: TestApi,
): Promise<Record<'sold' | 'disabled' | 'shared' | 'converting', KnownValues>> {
  const approved = async (): Promise<{ nodeId: string; slotId: string }> => {
    const nodeId = await addNode(api);
    const { body } = await approveAll(api, nodeId, [candidate(0)]);
    return { nodeId, slotId: body.items[0]!.id };
  };
  const [sold, disabled] = [await approved(), await approved()];
  const operate = '/api/v1/admin/nodes';
  const path = `${operate}/${disabled.nodeId}/resource-slots/${disabled.slotId}/disable`;
  await ask(api, 'operator', 'POST', path, { reason: 'fuzz' });
  const discovery = await addDiscovery(api, disabled.nodeId, [candidate(0)]);
  const [shared, converting] = [await addNode(api), await addNode(api)];
  await addDiscovery(api, shared, [candidate(3)]);
  await addDiscovery(api, converting, [candidate(3)]);
  const serial = candidate(3).nvme_serial!;
  const start = { destroys_data: true, note: 'fuzz' };
  await ask(api, 'operator', 'POST', `${operate}/${converting}/disks/${serial}/convert`, start);
  await addDiscovery(api, converting, [candidate(3)]);
  return {
    sold: { node_id: [sold.nodeId], slot_id: [sold.slotId] },
    disabled: { node_id: [disabled.nodeId], slot_id: [disabled.slotId], discovery_task_id: [discovery] },
    shared: { node_id: [shared], serial: [serial] },
    converting: { node_id: [converting], serial: [serial] },
  };
}

export async function seedBlocked(api: TestApi): Promise<KnownValues> {
  const nodeId = await addNode(api);
  const { body } = await approveAll(api, nodeId, [candidate(0)]);
  const slotId = body.items[0]!.id;
  await blockSlot(api, nodeId, slotId, 'release_failed');
  return { slot_id: [slotId] };
}

export async function seedMaintenance(api: TestApi, nodeId: string): Promise<string> {
  const hours = (count: number): string => new Date(Date.now() + count * 3_600_000).toISOString();
  const body = { starts_at: hours(24), ends_at: hours(25), reason: 'New firmware' };
  const path = `/api/v1/admin/nodes/${nodeId}/maintenance-windows`;
  return (await ask(api, 'operator', 'POST', path, body)).json<{ id: string }>().id;
}

/** A host that no test edits, so that its candidates stay approvable. */
export async function seedDiscoveredHost(api: TestApi): Promise<KnownValues> {
  const nodeId = await addNode(api);
  return { node_id: [nodeId], discovery_task_id: [await addDiscovery(api, nodeId, [candidate(0)])] };
}

export async function seedHostForBaremetal(api: TestApi): Promise<KnownValues> {
  const nodeId = await addNode(api);
  const { db } = api.services;
  await db.updateTable('nodes').set({ mode: 'baremetal' }).where('id', '=', nodeId).execute();
  const found = Array.from({ length: 8 }, (_, index) => candidate(index));
  return { node_id: [nodeId], discovery_task_id: [await addDiscovery(api, nodeId, found)] };
}

/** A discovery in a state that only an agent could bring it to. */
export async function seedTask(
  { services }: TestApi,
  nodeId: string,
  state: 'claimed' | 'succeeded',
): Promise<string> {
  const id = newId();
  const tomorrow = new Date(Date.now() + 86_400_000);
  await services.db
    .insertInto('node_tasks')
    .values({
      id,
      node_id: nodeId,
      subject_type: 'node',
      subject_id: nodeId,
      kind: 'slice.topology_discover',
      params: '{}',
      state,
      epoch: 1,
      claimed_at: new Date(),
      lease_expires_at: tomorrow,
      output: state === 'succeeded' ? JSON.stringify(DISCOVERY) : null,
      finished_at: state === 'succeeded' ? new Date() : null,
      correlation_id: newId(),
      expires_at: tomorrow,
    })
    .execute();
  return id;
}

const DISCOVERY = discovered([
  {
    slot_index: 0,
    gpu_model: 'H200-SXM-141GB',
    gpu_pci_address: '0000:10:00.0',
    iommu_group: 0,
    fabric_vf_pci_address: '0000:20:00.1',
    nvme_serial: 'S6CKN0T0',
    nvme_device: '/dev/disk/by-id/nvme-0',
    nvme_mounts: [],
    management_mac: '52:54:00:00:00:00',
    private_ip: '10.0.0.10',
    ovs_port: 'vm0',
    numa_node: 0,
    pcie_root: 'pci0000:10',
  },
]);
