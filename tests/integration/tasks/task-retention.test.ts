import { pruneTasks } from '@gpuaas/control-plane/domains/tasks/prune-tasks';
import { openDatabase, type Database } from '@gpuaas/control-plane/platform/db/database';
import { databaseAsRole } from '@gpuaas/control-plane/platform/db/scope';
import { createTestDatabase } from '@gpuaas/control-plane/platform/db/testing';
import { newId } from '@gpuaas/control-plane/platform/ids';
import { fixedPolicies } from '@gpuaas/control-plane/platform/policy/testing';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { addHost } from '../../harness/fleet/fleet-rows.ts';

let database: Database;
let drop: () => Promise<void>;
let nodeId: string;
beforeAll(async () => {
  const made = await createTestDatabase();
  drop = made.drop;
  database = openDatabase(made.url, { max: 2 });
});
afterAll(async () => {
  await database?.close();
  await drop?.();
});
beforeEach(async () => {
  ({ nodeId } = await addHost(database.db));
});

async function addTask(daysOld: number, state: string, kind = 'slice.topology_discover'): Promise<string> {
  const id = newId();
  const finished = ['queued', 'claimed'].includes(state) ? null : daysOld;
  await sql`insert into node_tasks (id, node_id, kind, params, state, correlation_id, created_at, expires_at, finished_at,
      subject_type, subject_id)
    values (${id}, ${nodeId}, ${kind}, '{}', ${state}, ${newId()}, now() - make_interval(days => ${daysOld}), now(),
      now() - make_interval(days => ${finished}::integer), 'node', ${nodeId})`.execute(database.db);
  return id;
}

async function prune(): Promise<string[]> {
  await pruneTasks(databaseAsRole(database.db, 'gpuaas_worker'), fixedPolicies({ 'tasks.keep_days': 90 }));
  const { rows } = await sql<{ id: string }>`
    select id from node_tasks where node_id = ${nodeId} order by created_at, id`.execute(database.db);
  return rows.map(({ id }) => id);
}

it('deletes finished tasks after the time of the policy, and keeps open and younger ones', async () => {
  const old = await addTask(91, 'succeeded');
  const failed = await addTask(91, 'failed');
  const young = await addTask(89, 'failed');
  const open = await addTask(91, 'claimed');
  const newest = await addTask(1, 'succeeded');
  const left = await prune();
  expect(left.toSorted()).toEqual([young, open, newest].toSorted());
  expect(left).not.toContain(old);
  expect(left).not.toContain(failed);
});

it('keeps the newest of each kind on a host, and the newest that succeeded', async () => {
  await addTask(200, 'succeeded');
  const succeeded = await addTask(190, 'succeeded');
  await addTask(180, 'failed');
  const failed = await addTask(170, 'failed');
  const other = await addTask(300, 'expired', 'slice.prereq_check');
  expect(await prune()).toEqual([other, succeeded, failed]);
});

it('keeps the evidence of a disk', async () => {
  const evidence = await addTask(200, 'succeeded');
  await sql`insert into node_disks (node_id, serial, ownership, evidence_task_id)
    values (${nodeId}, ${`S-${nodeId}`}, 'slice', ${evidence})`.execute(database.db);
  const newest = await addTask(1, 'succeeded');
  expect(await prune()).toEqual([evidence, newest]);
});

it('deletes more than one batch, and never tasks of the last 30 days', async () => {
  await sql`insert into node_tasks (id, node_id, kind, params, state, correlation_id, created_at, expires_at, finished_at,
      subject_type, subject_id)
    select gen_random_uuid(), ${nodeId}, 'slice.topology_discover', '{}', 'expired', gen_random_uuid(),
      now() - interval '100 days', now(), now() - interval '100 days', 'node', ${nodeId}
    from generate_series(1, 2_001)`.execute(database.db);
  const newest = await addTask(31, 'succeeded');
  expect(await prune()).toEqual([newest]);
  const sooner = sql`select prune_node_tasks(now() - interval '29 days', 1)`.execute(database.db);
  await expect(sooner).rejects.toThrow('at least 30 days');
});
