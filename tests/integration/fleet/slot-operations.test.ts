import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CandidateSlot } from '@gpuaas/contracts/tasks';
import { placementCandidates } from '@gpuaas/control-plane/domains/fleet/index/placement-candidates';
import { transitionSlots } from '@gpuaas/control-plane/domains/fleet/slots/transition-slots';
import { toIndexes } from '@gpuaas/control-plane/domains/placement/slot-mask';
import { servicesAsRole } from '@gpuaas/control-plane/platform/db/scope';
import { newId } from '@gpuaas/control-plane/platform/ids';
import { createTestApi, type TestApi } from '../../harness/api.ts';
import { addDiscovery, addNode, approveAll, ask, candidate } from '../../harness/fleet/fleet.ts';

let api: TestApi;
beforeAll(async () => {
  api = await createTestApi();
});
afterAll(() => api?.stop());

const operator = <T = Record<string, unknown>>(
  method: 'GET' | 'POST' | 'PATCH',
  url: string,
  body?: object,
) => ask<T>(api, 'operator', method, url, body);

async function slotsForSale(nodeId: string): Promise<number[]> {
  const nodes = await placementCandidates(
    api.services.policies,
    servicesAsRole(api.services, 'gpuaas_placement').db,
  );
  return toIndexes(nodes.find((node) => node.nodeId === nodeId)!.free);
}

describe('approval', () => {
  it('sells a clean host in one call, and nothing before', async () => {
    const id = await addNode(api);
    await addDiscovery(api, id, [candidate(0), candidate(1)]);
    expect(await slotsForSale(id)).toEqual([]);
    const approved = await approveAll(api, id, [candidate(0), candidate(1)]);
    expect(approved.status).toBe(200);
    expect(await slotsForSale(id)).toEqual([0, 1]);
    const disks = await operator<{ items: object[] }>('GET', `/nodes/${id}/disks`);
    expect(disks.body.items).toMatchObject([
      { serial: candidate(0).nvme_serial, ownership: 'slice', present: true },
      { serial: candidate(1).nvme_serial, ownership: 'slice' },
    ]);
  });

  it('lists all misses and approves nothing', async () => {
    const id = await addNode(api);
    const refused = await approveAll(api, id, [
      candidate(0, { nvme_mounts: ['/share'], fabric_vf_pci_address: null }),
      candidate(1),
    ]);
    expect(refused).toMatchObject({
      status: 422,
      body: {
        code: 'slot_approval_refused',
        errors: [
          { code: 'fabric_vf_missing', pointer: '/candidates/0/fabric_vf_pci_address' },
          { code: 'nvme_mounted', pointer: '/candidates/0/nvme_mounts' },
        ],
      },
    });
    expect(await slotsForSale(id)).toEqual([]);
  });

  it('refuses GPUs of one IOMMU group one by one as it does together, beside what was not found', async () => {
    const id = await addNode(api);
    const found = [candidate(0), candidate(1, { iommu_group: 0 }), candidate(2)];
    const discovery_task_id = await addDiscovery(api, id, found);
    const body = { discovery_task_id, slot_indexes: [0, 9], destructive_wipe_policy: 'blkdiscard' };
    expect(await operator('POST', `/nodes/${id}/resource-slots/approve`, body)).toMatchObject({
      body: {
        errors: [
          { code: 'candidate_missing', pointer: '/slot_indexes/1' },
          { code: 'iommu_group_shared', pointer: '/candidates/0/iommu_group' },
        ],
      },
    });
    const alone = { ...body, slot_indexes: [2] };
    expect((await operator('POST', `/nodes/${id}/resource-slots/approve`, alone)).status).toBe(200);
    expect(await slotsForSale(id)).toEqual([2]);
  });

  it('takes the latest discovery only, and says which that is', async () => {
    const id = await addNode(api);
    const old = await addDiscovery(api, id, [candidate(0)]);
    const latest = await addDiscovery(api, id, [candidate(0, { nvme_mounts: ['/share'] })]);
    const body = { discovery_task_id: old, slot_indexes: [0], destructive_wipe_policy: 'blkdiscard' };
    expect(await operator('POST', `/nodes/${id}/resource-slots/approve`, body)).toMatchObject({
      status: 409,
      body: { code: 'discovery_superseded', latest_discovery_task_id: latest },
    });
    const history = await operator<{ items: object[] }>('GET', `/nodes/${id}/slice-topology/discoveries`);
    expect(history.body.items).toMatchObject([
      { task: { id: latest }, candidates: 1, complete: 0 },
      { task: { id: old }, candidates: 1, complete: 1 },
    ]);
    const first = await operator('GET', `/nodes/${id}/slice-topology/discoveries/${old}`);
    expect(first.body).toMatchObject({ task: { id: old }, candidates: [{ nvme_mounts: [] }] });
  });
});

describe('disable, repair and approve again', () => {
  it('replaces a broken disk of one slot and leaves the other alone', async () => {
    const id = await addNode(api);
    const { body } = await approveAll(api, id, [candidate(0), candidate(1)]);
    const slot = `/nodes/${id}/resource-slots/${body.items[0]!.id}`;
    const renewed = [candidate(0, { nvme_serial: 'NEW' }), candidate(1)];
    const early = { discovery_task_id: await addDiscovery(api, id, renewed), note: 'new disk' };
    expect((await operator('POST', `${slot}/repair`, early)).body).toMatchObject({
      code: 'slot_not_disabled',
    });
    const disabled = await operator('POST', `${slot}/disable`, { reason: 'SMART errors' });
    expect(disabled.body).toMatchObject({ state: 'disabled', desired_state: 'disabled' });
    expect(await slotsForSale(id)).toEqual([1]);
    const repaired = await operator('POST', `${slot}/repair`, early);
    expect(repaired.body).toMatchObject({ state: 'disabled', nvme_serial: 'NEW', health_state: 'unknown' });
    expect(await slotsForSale(id)).toEqual([1]);
    await approveAll(api, id, renewed);
    expect(await slotsForSale(id)).toEqual([0, 1]);
  });

  it('lets the tenant stay: a sold slot is disabled when it comes back', async () => {
    const id = await addNode(api);
    const { body } = await approveAll(api, id, [candidate(0)]);
    const slotId = body.items[0]!.id;
    const move = (to: 'reserved' | 'in_use' | 'cleaning' | 'available') =>
      api.services.db.transaction().execute((tx) => transitionSlots(tx, [slotId], { to }));
    await move('reserved');
    await move('in_use');
    const path = `/nodes/${id}/resource-slots/${slotId}/disable`;
    const wanted = await operator('POST', path, { reason: 'fan' });
    expect(wanted.body).toMatchObject({ state: 'in_use', desired_state: 'disabled' });
    await move('cleaning');
    await move('available');
    const slots = await operator<{ items: object[] }>('GET', `/nodes/${id}/resource-slots`);
    expect(slots.body.items).toMatchObject([{ state: 'disabled' }]);
  });
});

describe('drift', () => {
  it('shows what differs from the approval', async () => {
    const id = await addNode(api);
    await approveAll(api, id, [candidate(0), candidate(1)]);
    const clean = await operator('GET', `/nodes/${id}/slice-topology/drift`);
    expect(clean.body).toMatchObject({ items: [] });
    await addDiscovery(api, id, [candidate(0)]);
    const drifted = await operator<{ items: { kind: string }[] }>('GET', `/nodes/${id}/slice-topology/drift`);
    expect(drifted.body.items.map((item) => item.kind)).toEqual([
      'gpu_missing',
      'fabric_vf_missing',
      'disk_missing',
    ]);
  });
});

describe('converting a disk to slice use', () => {
  it('needs an approval, then a discovery that shows it free, then proof for what is left on it', async () => {
    const id = await addNode(api);
    const shared = candidate(0, { nvme_mounts: ['/dev/nvme3n1p1 on /share'] });
    await addDiscovery(api, id, [shared]);
    const disk = `/nodes/${id}/disks/${shared.nvme_serial}`;
    expect((await operator('PATCH', disk, { ownership: 'share' })).body).toMatchObject({
      ownership: 'share',
      mounts: ['/dev/nvme3n1p1 on /share'],
    });
    expect((await operator('POST', `${disk}/finish-conversion`, {})).body).toMatchObject({
      code: 'disk_conversion_refused',
    });
    const start = { destroys_data: true, note: 'Share moved to another host' };
    const started = await operator('POST', `${disk}/convert`, start);
    expect(started.body).toMatchObject({ ownership: 'share', conversion: { note: start.note } });
    const codes = async (body: object): Promise<string[]> => {
      const refused = await operator<{ errors: { code: string }[] }>(
        'POST',
        `${disk}/finish-conversion`,
        body,
      );
      return refused.status === 200 ? [] : refused.body.errors.map((error) => error.code);
    };
    expect(await codes({})).toEqual(['rediscovery_missing', 'disk_mounted']);
    await addDiscovery(api, id, [shared]);
    expect(await codes({})).toEqual(['disk_mounted']);
    await addDiscovery(api, id, [candidate(0, { nvme_filesystems: ['xfs'] })]);
    expect(await codes({})).toEqual(['wipe_proof_missing']);
    expect((await approveAll(api, id, [candidate(0)])).body).toMatchObject({
      errors: [{ code: 'disk_not_slice_owned' }],
    });
    await addDiscovery(api, id, [candidate(0, { nvme_filesystems: ['xfs'] })]);
    expect(await codes({ wipe_proof: 'blkdiscard, read back as zeros, ticket 812' })).toEqual([]);
    expect((await approveAll(api, id, [candidate(0, { nvme_filesystems: ['xfs'] })])).status).toBe(200);
    const taken = await operator('PATCH', disk, { ownership: 'host' });
    expect(taken).toMatchObject({ status: 409, body: { code: 'disk_in_use' } });

    // The proof is used up: content on the disk after a lease needs another one.
    const slots = await operator<{ items: { id: string }[] }>('GET', `/nodes/${id}/resource-slots`);
    await operator('POST', `/nodes/${id}/resource-slots/${slots.body.items[0]!.id}/disable`, { reason: 'x' });
    const left = candidate(0, { nvme_filesystems: ['ext4'] });
    expect((await approveAll(api, id, [left])).body).toMatchObject({
      errors: [{ code: 'nvme_foreign_filesystem' }],
    });
    expect((await operator('POST', `${disk}/convert`, start)).status).toBe(200);
    await addDiscovery(api, id, [left]);
    expect(await codes({ wipe_proof: 'ticket 813' })).toEqual([]);
    expect((await approveAll(api, id, [left])).status).toBe(200);
  });
});

describe('the database refuses a second slot of a host with', () => {
  const columns: [string, Partial<CandidateSlot>][] = [
    ['the same GPU', { gpu_pci_address: '0000:10:00.0' }],
    ['the same fabric VF', { fabric_vf_pci_address: '0000:20:00.1' }],
    ['the same disk', { nvme_serial: null }],
    ['the same MAC', { management_mac: '52:54:00:00:00:00' }],
    ['the same IP', { private_ip: '10.0.0.10' }],
  ];
  it.each(columns)('%s', async (_what, change) => {
    const { db } = api.services;
    const id = await addNode(api);
    await approveAll(api, id, [candidate(0)]);
    const { bundle: _derived, ...slot } = await db
      .selectFrom('node_resource_slots')
      .selectAll()
      .where('node_id', '=', id)
      .executeTakeFirstOrThrow();
    const { gpu_pci_address, fabric_vf_pci_address, nvme_serial, management_mac, private_ip } = {
      ...candidate(1),
      ...change,
    };
    const second = db
      .insertInto('node_resource_slots')
      .values({
        ...slot,
        capacity_metadata: JSON.stringify(slot.capacity_metadata),
        id: newId(),
        slot_index: 1,
        gpu_pci_address,
        fabric_vf_pci_address: fabric_vf_pci_address!,
        nvme_serial: nvme_serial ?? slot.nvme_serial,
        management_mac,
        private_ip,
      })
      .execute();
    await expect(second).rejects.toThrow(/duplicate key/);
  });
});
