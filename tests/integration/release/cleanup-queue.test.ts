import { afterAll, beforeAll, expect, it } from 'vitest';
import { newId } from '@gpuaas/control-plane/platform/ids';
import { createTestApi, type TestApi } from '../../harness/api.ts';
import { addNode, approveAll, ask, candidate } from '../../harness/fleet/fleet.ts';
import { blockSlot } from '../../harness/allocations/blocked-slot.ts';

let api: TestApi;
beforeAll(async () => {
  api = await createTestApi();
});
afterAll(() => api?.stop());

async function blocked(state: 'release_failed' | 'failed' = 'release_failed') {
  const nodeId = await addNode(api);
  const { body } = await approveAll(api, nodeId, [candidate(0)]);
  const slotId = body.items[0]!.id;
  const allocationId = await blockSlot(api, nodeId, slotId, state);
  return { nodeId, slotId, allocationId, path: `/cleanup-queue/${slotId}` };
}

const operator = <T = Record<string, unknown>>(method: 'GET' | 'POST', url: string, body?: object) =>
  ask<T>(api, 'operator', method, url, body);

async function allocationState(id: string): Promise<string> {
  const { db } = api.services;
  const row = await db
    .selectFrom('allocations')
    .select('state')
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  return row.state;
}

interface Queue {
  items: { slot: { id: string }; running: boolean; allocation: { id: string } }[];
}

it('lists what is quarantined with its allocation', async () => {
  const { slotId, allocationId } = await blocked();
  const { body } = await operator<Queue>('GET', '/cleanup-queue?limit=200');
  expect(body.items.find((item) => item.slot.id === slotId)).toMatchObject({
    allocation: { id: allocationId, state: 'release_failed' },
    running: false,
    certificates: [],
  });
});

it('starts the wipes again, once at a time, for failed releases and failed launches', async () => {
  const { db } = api.services;
  for (const state of ['release_failed', 'failed'] as const) {
    const { path, allocationId } = await blocked(state);
    expect((await operator('POST', `${path}/retry`)).status).toBe(202);
    const starts = await db
      .selectFrom('workflow_starts')
      .select('name')
      .where('workflow_id', 'like', `%${allocationId}%`)
      .execute();
    const name = state === 'failed' ? 'allocation.cleanup' : 'allocation.release';
    expect(starts.map((start) => start.name)).toEqual([name]);
    if (state === 'failed') {
      expect((await operator('POST', `${path}/retry`)).body).toMatchObject({ code: 'cleanup_running' });
    }
  }
});

it('takes a confirmation for many slots, all or none, and carries it to the host', async () => {
  const { db } = api.services;
  const both = [await blocked('failed'), await blocked('release_failed')];
  const slot_ids = both.map(({ slotId }) => slotId);
  const missing = await operator('POST', '/cleanup-queue/retry-many', { slot_ids: [...slot_ids, newId()] });
  expect(missing.status).toBe(404);
  const inputs = async () => {
    const rows = await db.selectFrom('workflow_starts').select(['workflow_id', 'input']).execute();
    return rows
      .filter(({ workflow_id }) => both.some(({ allocationId }) => workflow_id.includes(allocationId)))
      .map(({ input }) => (input as { cause: string }).cause);
  };
  expect(await inputs()).toEqual([]);
  const body = { slot_ids, destroy_foreign_data: true };
  expect((await ask(api, 'admin', 'POST', '/cleanup-queue/retry-many', body)).status).toBe(403);
  expect(await operator('POST', '/cleanup-queue/retry-many', body)).toMatchObject({
    status: 202,
    body: { slot_ids },
  });
  expect(await inputs()).toEqual(['operator_all_data', 'operator_all_data']);
});

it('takes the proof of a witness for the disk that was sold, and ends the release', async () => {
  const { path, allocationId, slotId } = await blocked();
  const proof = { device_serial: 'OTHER', method: 'crypto erase', evidence: 'ticket 9' };
  expect((await operator('POST', `${path}/record-proof`, proof)).body).toMatchObject({
    code: 'proof_device_mismatch',
  });
  const device_serial = candidate(0).nvme_serial!;
  const given = await operator('POST', `${path}/record-proof`, { ...proof, device_serial });
  expect(given).toMatchObject({ status: 200, body: { state: 'available', allocation_id: null } });
  expect(await allocationState(allocationId)).toBe('released');
  const certificate = await api.services.db
    .selectFrom('wipe_certificates')
    .selectAll()
    .where('slot_id', '=', slotId)
    .executeTakeFirstOrThrow();
  expect(certificate).toMatchObject({ verified: true, node_task_id: null });
  expect(certificate.witnessed_by).not.toBeNull();
  const again = await operator('POST', `${path}/record-proof`, { ...proof, device_serial });
  expect(again.body).toMatchObject({ code: 'slot_not_blocked' });
});

it('retires a slot for good: its allocation ends, nothing sells it again', async () => {
  const { path, nodeId, slotId, allocationId } = await blocked();
  const retired = await operator('POST', `${path}/retire`, { reason: 'disk is dead' });
  expect(retired.body).toMatchObject({ state: 'disabled', desired_state: 'retired', allocation_id: null });
  expect(await allocationState(allocationId)).toBe('released');
  const approved = await approveAll(api, nodeId, [candidate(0)]);
  expect(approved.body.items).toMatchObject([{ id: slotId, state: 'disabled' }]);
  const sell = api.services.db
    .updateTable('node_resource_slots')
    .set({ state: 'available', desired_state: 'for_sale' })
    .where('id', '=', slotId)
    .execute();
  await expect(sell).rejects.toThrow(/no verified wipe/);
});

it('is closed to tenants, and every decision is audited', async () => {
  const { path, slotId } = await blocked();
  expect((await ask(api, 'admin', 'POST', `${path}/retire`, { reason: 'x' })).status).toBe(403);
  await operator('POST', `${path}/retire`, { reason: 'x' });
  const rows = await api.services.db
    .selectFrom('audit_logs')
    .select(['action', 'result'])
    .where('target_id', '=', slotId)
    .orderBy('id')
    .execute();
  expect(rows).toEqual([
    { action: 'slot.retire', result: 'denied' },
    { action: 'slot.retire', result: 'succeeded' },
  ]);
  expect((await operator('POST', `/cleanup-queue/${newId()}/retry`)).status).toBe(404);
});
