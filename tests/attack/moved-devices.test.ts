import { afterAll, beforeAll, expect, it } from 'vitest';
import type { CandidateSlot } from '@gpuaas/contracts/tasks';
import { newId } from '@gpuaas/control-plane/platform/ids';
import { createTestApi, type TestApi } from '../harness/api.ts';
import { blockSlot } from '../harness/allocations/blocked-slot.ts';
import { addDiscovery, addNode, approveAll, ask, candidate } from '../harness/fleet/fleet.ts';

/** Disks and GPUs that carry a tenant's data to another host: what was not proven clean is never sold again. */
let api: TestApi;
beforeAll(async () => {
  api = await createTestApi();
});
afterAll(() => api?.stop());

let made = 0;
const serials = () => ({ nvme_serial: `DISK${++made}`, gpu_serial: `GPU${made}` });

interface Refusal {
  code: string;
  errors: { code: string; detail: string }[];
}

const operator = <T = Record<string, unknown>>(method: 'GET' | 'POST', url: string, body?: object) =>
  ask<T>(api, 'operator', method, url, body);

async function host(devices: Partial<CandidateSlot> = serials()) {
  const hostname = `host-${++made}`;
  const nodeId = await addNode(api, { hostname });
  const approved = await approveAll(api, nodeId, [candidate(0, devices)]);
  return { nodeId, hostname, approved, slotId: approved.body.items?.[0]?.id ?? '' };
}

async function certify(slotId: string, allocationId: string, serial: string, verified: boolean) {
  const now = new Date();
  await api.services.db
    .insertInto('wipe_certificates')
    .values({
      id: newId(),
      allocation_id: allocationId,
      slot_id: slotId,
      slot_index: 0,
      node_task_id: null,
      witnessed_by: newId(),
      device_serial: serial,
      method: 'blkdiscard',
      verified,
      verification: 'read back',
      started_at: now,
      finished_at: now,
    })
    .execute();
}

/** A lease whose wipe was never proven, and the operator gives its slot up. */
async function retired(devices = serials()) {
  const old = await host(devices);
  const allocationId = await blockSlot(api, old.nodeId, old.slotId, 'release_failed');
  await certify(old.slotId, allocationId, devices.nvme_serial, false);
  expect((await operator('POST', `/cleanup-queue/${old.slotId}/retire`, { reason: 'dead' })).status).toBe(
    200,
  );
  return { ...old, devices };
}

const refusalsOf = ({ body }: { body: unknown }) =>
  Object.fromEntries((body as Refusal).errors.map(({ code, detail }) => [code, detail]));

const proof = (device_serial: string) => ({ device_serial, method: 'shredded', evidence: 'ticket 7' });

it('refuses a disk whose wipe failed on another host, and names the disk and that host', async () => {
  const old = await retired();
  const serial = old.devices.nvme_serial;
  const next = await host({ ...serials(), nvme_serial: serial });
  expect(next.approved.status).toBe(422);
  const { disk_not_proven_clean: detail } = refusalsOf(next.approved);
  expect(detail).toContain(serial);
  expect(detail).toContain(old.hostname);
  const topology = await operator<{ approval: { rules: { code: string; breach: string | null }[] }[] }>(
    'GET',
    `/nodes/${next.nodeId}/slice-topology/discovery`,
  );
  const rule = topology.body.approval[0]!.rules.find(({ code }) => code === 'disk_not_proven_clean');
  expect(rule?.breach).toContain(old.hostname);
});

it('takes that disk after a witness has proven it, and keeps the certificate with the old lease', async () => {
  const old = await retired();
  const serial = old.devices.nvme_serial;
  const record = (body: object) => operator('POST', `/cleanup-queue/${old.slotId}/record-proof`, body);
  expect((await record(proof('OTHER'))).body).toMatchObject({ code: 'proof_device_mismatch' });
  expect(await record(proof(serial))).toMatchObject({ status: 200, body: { state: 'disabled' } });
  expect((await record(proof(serial))).body).toMatchObject({ code: 'proof_device_mismatch' });
  const next = await host({ ...serials(), nvme_serial: serial });
  expect(next.approved).toMatchObject({ status: 200, body: { items: [{ state: 'available' }] } });
});

it('refuses a disk that gave no certificate at all in its last lease, whatever earlier ones say', async () => {
  const devices = serials();
  const old = await host(devices);
  const earlier = await blockSlot(api, old.nodeId, old.slotId, 'release_failed');
  await certify(old.slotId, earlier, devices.nvme_serial, true);
  await operator('POST', `/cleanup-queue/${old.slotId}/retire`, { reason: 'dead' });
  expect((await host({ ...serials(), nvme_serial: devices.nvme_serial })).approved.status).toBe(200);

  const silent = await host();
  const lease = await blockSlot(api, silent.nodeId, silent.slotId, 'release_failed');
  expect(lease).toBeTruthy();
  await operator('POST', `/cleanup-queue/${silent.slotId}/retire`, { reason: 'dead' });
  const { nvme_serial } = await slotOf(silent.slotId);
  expect(refusalsOf((await host({ ...serials(), nvme_serial })).approved)).toHaveProperty(
    'disk_not_proven_clean',
  );
});

it('refuses a disk or a GPU that a slot of another host still has', async () => {
  const devices = serials();
  const other = await host(devices);
  const disk = refusalsOf((await host({ ...serials(), nvme_serial: devices.nvme_serial })).approved);
  expect(disk['nvme_shared']).toContain(other.hostname);
  expect(disk['nvme_shared']).toContain(devices.nvme_serial);
  const gpu = refusalsOf((await host({ ...serials(), gpu_serial: devices.gpu_serial })).approved);
  expect(gpu['gpu_serial_shared']).toContain(other.hostname);
  await blockSlot(api, other.nodeId, other.slotId, 'release_failed');
  expect((await host(devices)).approved.status).toBe(422);
});

it('lets proven disks be swapped between hosts and come back', async () => {
  const here = serials();
  const there = serials();
  const one = await host(here);
  const two = await host(there);
  for (const { nodeId, slotId } of [one, two]) {
    const path = `/nodes/${nodeId}/resource-slots/${slotId}/disable`;
    expect((await operator('POST', path, { reason: 'swap' })).status).toBe(200);
  }
  for (const [at, devices] of [
    [one, there],
    [two, here],
  ] as const) {
    expect(await approveAll(api, at.nodeId, [candidate(0, devices)])).toMatchObject({
      status: 200,
      body: { items: [{ state: 'available' }] },
    });
  }
});

it('refuses a slot that binds the unproven disk by a repair', async () => {
  const old = await retired();
  const next = await host();
  await operator('POST', `/nodes/${next.nodeId}/resource-slots/${next.slotId}/disable`, { reason: 'swap' });
  const devices = candidate(0, { ...serials(), nvme_serial: old.devices.nvme_serial });
  const discovery_task_id = await addDiscovery(api, next.nodeId, [devices]);
  const repaired = await operator('POST', `/nodes/${next.nodeId}/resource-slots/${next.slotId}/repair`, {
    discovery_task_id,
    note: 'new disk',
  });
  expect(refusalsOf(repaired)).toHaveProperty('disk_not_proven_clean');
});

it('refuses a GPU whose memory was never proven clean, until a witness proves it', async () => {
  const old = await retired();
  const { gpu_serial } = old.devices;
  const moved = { ...serials(), gpu_serial };
  const { gpu_not_proven_clean: detail } = refusalsOf((await host(moved)).approved);
  expect(detail).toContain(gpu_serial);
  expect(detail).toContain(old.hostname);
  const path = `/cleanup-queue/${old.slotId}/record-proof`;
  expect((await operator('POST', path, proof(gpu_serial))).status).toBe(200);
  expect((await host(moved)).approved.status).toBe(200);
});

it('sells a blocked slot only after its disk and its GPU are both proven, in either order', async () => {
  for (const order of [
    ['nvme_serial', 'gpu_serial'],
    ['gpu_serial', 'nvme_serial'],
  ] as const) {
    const devices = serials();
    const { nodeId, slotId } = await host(devices);
    const allocationId = await blockSlot(api, nodeId, slotId, 'release_failed');
    const record = (column: (typeof order)[number]) =>
      operator('POST', `/cleanup-queue/${slotId}/record-proof`, proof(devices[column]));
    const first = await record(order[0]);
    expect(first).toMatchObject({ status: 200, body: { state: 'cleanup_blocked' } });
    expect(JSON.stringify(first.body)).toContain(devices[order[1]]);
    expect((await record(order[0])).body).toMatchObject({ code: 'proof_device_mismatch' });
    expect(await record(order[1])).toMatchObject({ status: 200, body: { state: 'available' } });
    const ended = await api.services.db
      .selectFrom('allocations')
      .select('state')
      .where('id', '=', allocationId)
      .executeTakeFirstOrThrow();
    expect(ended.state).toBe('released');
  }
});

it('remembers only the GPU when the disk was proven before the slot was given up', async () => {
  const devices = serials();
  const { nodeId, slotId } = await host(devices);
  await blockSlot(api, nodeId, slotId, 'release_failed');
  await operator('POST', `/cleanup-queue/${slotId}/record-proof`, proof(devices.nvme_serial));
  await operator('POST', `/cleanup-queue/${slotId}/retire`, { reason: 'dead' });
  expect(Object.keys(refusalsOf((await host(devices)).approved))).toEqual(['gpu_not_proven_clean']);
});

it('holds in the database too, whatever the code above it does', async () => {
  const old = await retired();
  const next = await host();
  const sell = (column: 'nvme_serial' | 'gpu_serial') =>
    api.services.db
      .updateTable('node_resource_slots')
      .set({ [column]: old.devices[column] })
      .where('id', '=', next.slotId)
      .execute();
  await expect(sell('nvme_serial')).rejects.toThrow(/not proven clean/);
  await expect(sell('gpu_serial')).rejects.toThrow(/not proven clean/);
});

it('knows a device whatever case and blanks its serial comes with', async () => {
  const old = await retired();
  const respell = (serial: string) => ` ${serial.toLowerCase()} `;
  const [disk, gpu] = [respell(old.devices.nvme_serial), respell(old.devices.gpu_serial)];
  const moved = await host({ nvme_serial: disk, gpu_serial: gpu });
  expect(Object.keys(refusalsOf(moved.approved)).toSorted()).toEqual([
    'disk_not_proven_clean',
    'gpu_not_proven_clean',
  ]);
  const next = await host();
  for (const device of [{ nvme_serial: disk }, { gpu_serial: gpu }])
    await expect(
      api.services.db.updateTable('node_resource_slots').set(device).where('id', '=', next.slotId).execute(),
    ).rejects.toThrow(/not proven clean/);

  const taken = serials();
  await host(taken);
  const again = { nvme_serial: respell(taken.nvme_serial), gpu_serial: respell(taken.gpu_serial) };
  expect(Object.keys(refusalsOf((await host(again)).approved)).toSorted()).toEqual([
    'gpu_serial_shared',
    'nvme_shared',
  ]);
  const nodeId = await addNode(api, { hostname: `host-${++made}` });
  const twins = serials();
  const lower = { nvme_serial: twins.nvme_serial.toLowerCase(), gpu_serial: twins.gpu_serial.toLowerCase() };
  expect(refusalsOf(await approveAll(api, nodeId, [candidate(0, twins), candidate(1, lower)]))).toMatchObject(
    {
      gpu_serial_shared: expect.any(String) as string,
      nvme_shared: expect.any(String) as string,
    },
  );

  for (const serial of [disk, gpu])
    expect((await operator('POST', `/cleanup-queue/${old.slotId}/record-proof`, proof(serial))).status).toBe(
      200,
    );
  expect((await host({ nvme_serial: disk, gpu_serial: gpu })).approved.status).toBe(200);
});

it('takes devices that no lease has ever had', async () => {
  expect((await host({ ...serials(), gpu_serial: null })).approved.status).toBe(200);
});

async function slotOf(id: string) {
  return await api.services.db
    .selectFrom('node_resource_slots')
    .selectAll()
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
}
