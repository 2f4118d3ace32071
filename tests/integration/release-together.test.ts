import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  recordCleanUp,
  type CleanUpEvidence,
} from '@gpuaas/control-plane/domains/allocations/record-in-groups';
import { verifyCertificates } from '@gpuaas/control-plane/domains/allocations/certificates/verify-certificates';
import { claimedSlots } from '@gpuaas/control-plane/domains/allocations/claims';
import { verifyQuotas } from '@gpuaas/control-plane/domains/quotas/verify-quotas';
import { actingAs } from '@gpuaas/control-plane/platform/db/scope';
import { newId } from '@gpuaas/control-plane/platform/ids';
import type { Services } from '@gpuaas/control-plane/platform/services';
import { launchBody } from '../harness/allocations.ts';
import { createTestApi, type TestApi } from '../harness/api.ts';
import { addHost, claimDefects } from '../harness/fleet-rows.ts';
import { newTenant, type Schemas } from '../harness/tenancy.ts';

let api: TestApi;
let worker: Services;
beforeAll(async () => {
  api = await createTestApi();
  worker = actingAs(api.services, 'gpuaas_worker');
  await sql`update sku_catalog set enabled = true`.execute(api.services.db);
}, 120_000);
afterAll(() => api?.stop());

/** Allocations of tenants of their own, at the point where their host has been asked to wipe. */
async function beingReleased(gpuCounts: readonly number[]): Promise<string[]> {
  const { db } = api.services;
  const ids: string[] = [];
  for (const gpuCount of gpuCounts) {
    const { admin, projectId } = await newTenant(api);
    const { body } = await admin.ask<Schemas['Allocation']>(
      'POST',
      '/api/v1/allocations',
      launchBody(projectId, gpuCount),
    );
    ids.push(body.id);
  }
  await sql`update allocations set state = 'releasing', desired_state = 'released', execution_state = 'releasing'
    where id = any(${ids}::uuid[])`.execute(db);
  await sql`update node_resource_slots s set state = 'cleaning' from allocation_resource_claims c
    where c.slot_id = s.id and c.allocation_id = any(${ids}::uuid[])`.execute(db);
  return ids;
}

/** What a host brings back; `verified` says which of its slots, in their order, were proven. */
async function evidenceOf(
  allocationId: string,
  verified: (slotIndex: number) => boolean = () => true,
): Promise<CleanUpEvidence> {
  const { db } = api.services;
  const slots = await claimedSlots(db, allocationId);
  const taskId = newId();
  await sql`insert into node_tasks (id, node_id, kind, params, correlation_id, expires_at, allocation_id)
    select ${taskId}, node_id, 'slice.vm_release', '{}', correlation_id, now() + interval '1 hour', id
    from allocations where id = ${allocationId}`.execute(db);
  const at = new Date().toISOString();
  const wipes = slots.map((slot) => ({
    slot_id: slot.slot_id,
    device_serial: slot.nvme_serial,
    method: 'blkdiscard',
    verified: verified(slot.slot_index),
    verification: 'read back',
    tools: [],
    started_at: at,
    finished_at: at,
  }));
  const output = { vm_absent: true, stop: 'graceful', network_clean: true, wipes };
  return {
    allocationId,
    executionState: 'releasing',
    result: { taskId, outcome: 'succeeded', output, error: null },
  };
}

async function slotStates(allocationId: string): Promise<string[]> {
  const { rows } = await sql<{ state: string }>`
    select s.state from allocation_resource_claims c join node_resource_slots s on s.id = c.slot_id
    where c.allocation_id = ${allocationId} order by s.slot_index`.execute(api.services.db);
  return rows.map(({ state }) => state);
}

/** How many transactions ended claims of these allocations. */
async function transactionsOf(ids: readonly string[]): Promise<number> {
  const { rows } = await sql<{
    count: bigint;
  }>`select count(distinct xmin::text) from allocation_resource_claims
    where allocation_id = any(${ids}::uuid[]) and released_at is not null`.execute(api.services.db);
  return Number(rows[0]!.count);
}

it('what hosts bring back at once is recorded together, each by its own proof, and again without effect', async () => {
  const { db } = api.services;
  for (let host = 0; host < 2; host += 1) await addHost(db, 8);
  const ids = await beingReleased([1, 2, 4, 1, 2]);
  const [unproven, ended] = [ids[3]!, ids[4]!];
  const evidence = await Promise.all(ids.map((id) => evidenceOf(id, () => id !== unproven)));
  // An operator ended this one meanwhile, and its proof is incomplete.
  evidence[4] = await evidenceOf(ended, (index) => index % 2 === 0);
  await sql`update allocations set execution_state = 'idle' where id = ${ended}`.execute(db);

  const recorded = await Promise.all(evidence.map((one) => recordCleanUp(worker, one)));
  expect(recorded).toEqual(['clean', 'clean', 'clean', 'held', 'withdrawn']);
  expect(await transactionsOf(ids)).toBeLessThan(3);
  expect(await Promise.all(ids.slice(0, 3).map(slotStates))).toEqual([
    ['available'],
    ['available', 'available'],
    ['available', 'available', 'available', 'available'],
  ]);
  expect(await slotStates(unproven)).toEqual(['cleanup_blocked']);
  expect((await slotStates(ended)).toSorted()).toEqual(['available', 'cleanup_blocked']);

  const certificates = () =>
    sql<{ wiped: number; issued: number }>`select count(*)::int as wiped,
      (select count(*)::int from issued_certificates) as issued from wipe_certificates`.execute(db);
  const before = (await certificates()).rows;
  expect(before).toEqual([{ wiped: 10, issued: 10 }]);
  const again = await Promise.all(evidence.map((one) => recordCleanUp(worker, one)));
  expect(again).toEqual(recorded);
  expect((await certificates()).rows).toEqual(before);
  expect(await verifyCertificates(db)).toMatchObject({ certificates: 10, findings: [], unsigned: 0 });
  expect(await claimDefects(db)).toEqual([]);
  expect(await verifyQuotas(db, 10)).toEqual([]);
});

it('evidence that cannot be recorded is refused alone; the others of its group are not', async () => {
  const { db } = api.services;
  await addHost(db, 8);
  const ids = await beingReleased([1, 1, 1]);
  const evidence = await Promise.all(ids.map((id) => evidenceOf(id)));
  // No task of this id was ever issued.
  evidence[1]!.result!.taskId = newId();
  const outcomes = await Promise.allSettled(evidence.map((one) => recordCleanUp(worker, one)));
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(await Promise.all(ids.map(slotStates))).toEqual([['available'], ['cleaning'], ['available']]);
  expect(await claimDefects(db)).toEqual([]);
  expect(await verifyQuotas(db, 10)).toEqual([]);
});
