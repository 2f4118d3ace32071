import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type {
  CleanUpEvidence,
  CleanupServices,
} from '@gpuaas/control-plane/domains/allocations/cleanup/record-cleanup';
import { verifyCertificates } from '@gpuaas/control-plane/domains/allocations/certificates/verify-certificates';
import { claimedSlots } from '@gpuaas/control-plane/domains/allocations/claims';
import { verifyQuotas } from '@gpuaas/control-plane/domains/quotas/verify-quotas';
import { servicesAsRole } from '@gpuaas/control-plane/platform/db/scope';
import { newId } from '@gpuaas/control-plane/platform/ids';
import { launchBody } from '../../harness/allocations/allocations.ts';
import { createTestApi, type TestApi } from '../../harness/api.ts';
import { addHost, claimDefects } from '../../harness/fleet/fleet-rows.ts';
import { newTenant, type Schemas } from '../../harness/tenancy.ts';

let api: TestApi;
let worker: CleanupServices;
beforeAll(async () => {
  api = await createTestApi();
  worker = servicesAsRole(api.services, 'gpuaas_worker');
  await sql`update sku_catalog set enabled = true`.execute(api.services.db);
});
afterAll(() => api?.stop());

/** Allocations of separate tenants, at the point where their host has the wipe task. */
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
  await sql`update allocations set state = 'releasing', desired_state = 'released', execution_state = 'releasing',
      execution_workflow_id = 'release:' || id || ':1'
    where id = any(${ids}::uuid[])`.execute(db);
  await sql`update node_resource_slots s set state = 'cleaning' from allocation_resource_claims c
    where c.slot_id = s.id and c.allocation_id = any(${ids}::uuid[])`.execute(db);
  return ids;
}

/** A host's evidence; `verified` lists which of its slots, in order, were proven. */
async function evidenceOf(
  allocationId: string,
  verified: (slotIndex: number) => boolean = () => true,
): Promise<CleanUpEvidence> {
  const { db } = api.services;
  const slots = await claimedSlots(db, allocationId);
  const taskId = newId();
  await sql`insert into node_tasks (id, node_id, kind, params, correlation_id, expires_at, subject_type, subject_id)
    select ${taskId}, node_id, 'slice.vm_release', '{}', correlation_id, now() + interval '1 hour', 'allocation', id
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
    workflowId: `release:${allocationId}:1`,
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

it('concurrent evidence is recorded in one batch, each by its own proof, and a repetition has no effect', async () => {
  const { db } = api.services;
  for (let host = 0; host < 2; host += 1) await addHost(db, 8);
  const ids = await beingReleased([1, 2, 4, 1, 2]);
  const [unproven, ended] = [ids[3]!, ids[4]!];
  const evidence = await Promise.all(ids.map((id) => evidenceOf(id, () => id !== unproven)));
  // An operator ended this one meanwhile, and its proof is incomplete.
  evidence[4] = await evidenceOf(ended, (index) => index % 2 === 0);
  await sql`update allocations set execution_state = 'idle', execution_workflow_id = null
    where id = ${ended}`.execute(db);

  const recorded = await Promise.all(evidence.map((one) => worker.cleanupRecorder.record(worker, one)));
  expect(recorded).toEqual(['clean', 'clean', 'clean', 'held', 'withdrawn']);
  expect(await transactionsOf(ids)).toBeLessThan(3);
  expect(await Promise.all(ids.slice(0, 3).map(slotStates))).toEqual([
    ['available'],
    ['available', 'available'],
    ['available', 'available', 'available', 'available'],
  ]);
  expect(await slotStates(unproven)).toEqual(['cleaning']);
  expect((await slotStates(ended)).toSorted()).toEqual(['available', 'cleaning']);

  const certificates = () =>
    sql<{ wiped: number; issued: number }>`select count(*)::int as wiped,
      (select count(*)::int from issued_certificates) as issued from wipe_certificates`.execute(db);
  const before = (await certificates()).rows;
  expect(before).toEqual([{ wiped: 10, issued: 10 }]);
  const again = await Promise.all(evidence.map((one) => worker.cleanupRecorder.record(worker, one)));
  expect(again).toEqual(recorded);
  expect((await certificates()).rows).toEqual(before);
  expect(await verifyCertificates(db)).toMatchObject({ certificates: 10, findings: [], unsigned: 0 });
  expect(await claimDefects(db)).toEqual([]);
  expect(await verifyQuotas(db, 10)).toEqual([]);
});

it('a workflow that another one has replaced decides nothing, whatever the state is called', async () => {
  const [id] = await beingReleased([1]);
  const unproven = await evidenceOf(id!, () => false);
  expect(await worker.cleanupRecorder.record(worker, unproven)).toBe('held');
  await sql`update allocations set execution_workflow_id = 'release:' || id || ':2' where id = ${id}`.execute(
    api.services.db,
  );
  expect(await worker.cleanupRecorder.record(worker, unproven)).toBe('withdrawn');
});

it('evidence that cannot be recorded is refused alone; the others of its group are not', async () => {
  const { db } = api.services;
  await addHost(db, 8);
  const ids = await beingReleased([1, 1, 1]);
  const evidence = await Promise.all(ids.map((id) => evidenceOf(id)));
  // No task of this id was ever issued.
  evidence[1]!.result!.taskId = newId();
  const outcomes = await Promise.allSettled(
    evidence.map((one) => worker.cleanupRecorder.record(worker, one)),
  );
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(await Promise.all(ids.map(slotStates))).toEqual([['available'], ['cleaning'], ['available']]);
  expect(await claimDefects(db)).toEqual([]);
  expect(await verifyQuotas(db, 10)).toEqual([]);
});
