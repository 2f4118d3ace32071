import type { CandidateSlot } from '@gpuaas/contracts/tasks';
import { reconcileNodes } from '@gpuaas/control-plane/domains/fleet/reconcile-nodes';
import { servicesAsRole } from '@gpuaas/control-plane/platform/db/scope';
import { newId } from '@gpuaas/control-plane/platform/ids';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestApi, type TestApi } from '../../harness/api.ts';
import { addFinishedTask, addNode, ask, candidate, discovered } from '../../harness/fleet/fleet.ts';

let api: TestApi;
beforeAll(async () => {
  api = await createTestApi();
});
afterAll(() => api?.stop());

/** The policies keep 8 vCPU and 64 GiB for the host. */
const RESERVE = { threads: 8, gib: 64 };
const THREE = [candidate(0), candidate(1), candidate(2)];

/** A host on which two slots of the product (24 vCPU, 64 GiB) fit, and not a third. */
async function addHost(change: { threads?: number; gib?: number } = {}): Promise<string> {
  const nodeId = await addNode(api);
  await discover(nodeId, change);
  return nodeId;
}

async function discover(nodeId: string, { threads = 48, gib = 128 }): Promise<string> {
  const found = discovered(candidates());
  found.inventory!.cpu.threads = threads + RESERVE.threads;
  found.inventory!.memory_kib = (gib + RESERVE.gib) * 1024 ** 2;
  return await addFinishedTask(api, nodeId, 'slice.topology_discover', found);
}

const candidates = (): CandidateSlot[] => THREE.map(({ slot_index }) => candidate(slot_index));

async function approve(nodeId: string, slot_indexes: number[]) {
  const url = `/nodes/${nodeId}/slice-topology/discovery`;
  const latest = await ask<{ task: { id: string } }>(api, 'operator', 'GET', url);
  return await ask<{ code: string; errors: object[]; items: { vcpu: number }[] }>(
    api,
    'operator',
    'POST',
    `/nodes/${nodeId}/resource-slots/approve`,
    { discovery_task_id: latest.body.task.id, slot_indexes, destructive_wipe_policy: 'blkdiscard' },
  );
}

const operators = () => servicesAsRole(api.services, 'gpuaas_operator').db;

describe('processors and memory of a host', () => {
  it('are approved up to what was measured less the reserve, slot by slot as well as together', async () => {
    const nodeId = await addHost();
    const refusal = {
      status: 422,
      body: {
        code: 'slot_approval_refused',
        errors: [
          {
            code: 'host_cpu_exceeded',
            pointer: '/inventory/cpu',
            detail: expect.stringContaining('72 vCPU'),
          },
          { code: 'host_memory_exceeded', pointer: '/inventory/memory_kib' },
        ],
      },
    };
    expect(await approve(nodeId, [0, 1, 2])).toMatchObject(refusal);
    expect((await approve(nodeId, [0, 1])).status).toBe(200);
    expect(await approve(nodeId, [2])).toMatchObject(refusal);
    // Another measurement may have found more, or less than is approved.
    await discover(nodeId, { threads: 47 });
    expect(await approve(nodeId, [2])).toMatchObject({ status: 422 });
    await discover(nodeId, { threads: 72, gib: 192 });
    expect((await approve(nodeId, [2])).status).toBe(200);
  });

  it('count again when a slot is disabled', async () => {
    const nodeId = await addHost();
    await approve(nodeId, [0, 1]);
    const [slot] = await slotsOf(nodeId);
    const url = `/nodes/${nodeId}/resource-slots/${slot!.id}/disable`;
    expect((await ask(api, 'operator', 'POST', url, { reason: 'swap' })).status).toBe(200);
    expect((await approve(nodeId, [2])).status).toBe(200);
    expect((await approve(nodeId, [0])).status).toBe(422);
  });

  it('are unknown to an old agent, so nothing is approved', async () => {
    const nodeId = await addNode(api);
    const { inventory: _, ...found } = discovered(candidates());
    await addFinishedTask(api, nodeId, 'slice.topology_discover', found);
    expect(await approve(nodeId, [0])).toMatchObject({
      status: 422,
      body: { errors: [{ code: 'host_not_measured' }] },
    });
  });

  it('are held by the database, whatever writes the slots', async () => {
    const nodeId = await addHost();
    await approve(nodeId, [0, 1]);
    const [slot] = await slotsOf(nodeId);
    const { bundle: _, ...row } = slot!;
    const third = {
      ...row,
      id: newId(),
      slot_index: 5,
      gpu_pci_address: 'g',
      gpu_serial: null,
      fabric_vf_pci_address: 'v',
      nvme_serial: newId(),
      management_mac: 'm',
      private_ip: 'i',
      capacity_metadata: JSON.stringify(row.capacity_metadata),
    };
    const insert = (state: 'available' | 'disabled') =>
      operators()
        .insertInto('node_resource_slots')
        .values({ ...third, state })
        .execute();
    await expect(insert('available')).rejects.toThrow(
      /take 72 vCPU and 192 GiB, of which 48 vCPU and 128 GiB/,
    );
    await insert('disabled');
    const change = (id: string, values: object) =>
      operators().updateTable('node_resource_slots').set(values).where('id', '=', id).execute();
    await expect(change(third.id, { state: 'available' })).rejects.toThrow(/may be sold/);
    await expect(change(row.id, { vcpu: 25 })).rejects.toThrow(/may be sold/);
    await expect(change(row.id, { memory_gib: 65 })).rejects.toThrow(/may be sold/);
    await change(row.id, { vcpu: 23 });
    const shrink = operators().updateTable('nodes').set({ sellable_vcpu: 46 }).where('id', '=', nodeId);
    await expect(shrink.execute()).rejects.toThrow(/may be sold/);
  });

  it('cannot be approved twice by two who commit at the same moment', async () => {
    const nodeId = await addHost({ threads: 24, gib: 64 });
    const answers = await Promise.all([approve(nodeId, [0]), approve(nodeId, [1])]);
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 422]);
  });

  it('that a host lost take it out of sale with an incident, until they are back', async () => {
    const nodeId = await addHost();
    await approve(nodeId, [0, 1]);
    await discover(nodeId, { gib: 127 - RESERVE.gib });
    await reconcile();
    const lost = 'Not ready for slices: The slots need 128 GiB of memory, of which the host can give 127.';
    expect(await cordonsOf(nodeId)).toEqual([{ reason: 'not_ready', detail: lost }]);
    await discover(nodeId, { gib: 128 - RESERVE.gib });
    await reconcile();
    expect(await cordonsOf(nodeId)).toEqual([]);
  });

  it('stay with approved slots when the product changes', async () => {
    const nodeId = await addHost();
    await approve(nodeId, [0]);
    const sku = (vcpu_per_gpu: number, memory_gib_per_gpu: number) =>
      ask(api, 'operator', 'PATCH', '/skus/h200-sxm-slice', {
        resource_profile: { vcpu_per_gpu, memory_gib_per_gpu },
      });
    expect((await sku(12, 32)).status).toBe(200);
    try {
      expect((await approve(nodeId, [1])).body.items).toMatchObject([
        { vcpu: 24, memory_gib: 64 },
        { vcpu: 12, memory_gib: 32 },
      ]);
    } finally {
      await sku(24, 64);
    }
  });
});

async function reconcile(): Promise<void> {
  const now = api.services.clock.now();
  await reconcileNodes().run(servicesAsRole(api.services, 'gpuaas_worker'), { from: now, to: now });
}

const cordonsOf = (nodeId: string) =>
  api.services.db
    .selectFrom('node_cordons')
    .select(['reason', 'detail'])
    .where('node_id', '=', nodeId)
    .where('reason', '=', 'not_ready')
    .execute();

const slotsOf = (nodeId: string) =>
  api.services.db
    .selectFrom('node_resource_slots')
    .selectAll()
    .where('node_id', '=', nodeId)
    .orderBy('slot_index')
    .execute();
