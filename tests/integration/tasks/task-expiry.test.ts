import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { claimTask } from '@gpuaas/control-plane/domains/tasks/claim-task';
import { completeTask } from '@gpuaas/control-plane/domains/tasks/complete-task';
import { issueTask } from '@gpuaas/control-plane/domains/tasks/issue-task';
import { reconcileNodes } from '@gpuaas/control-plane/domains/fleet/reconcile-nodes';
import { servicesAsRole, inScope, nodeScope } from '@gpuaas/control-plane/platform/db/scope';
import { newId } from '@gpuaas/control-plane/platform/ids';
import { createTestApi, type TestApi } from '../../harness/api.ts';
import { addNode, ask } from '../../harness/fleet/fleet.ts';

let api: TestApi;
beforeAll(async () => {
  api = await createTestApi();
});
afterAll(() => api?.stop());

async function issue(nodeId: string, expiresInMs: number): Promise<string> {
  const expiresAt = new Date(Date.now() + expiresInMs);
  const task = { nodeId, kind: 'slice.prereq_check', params: {}, correlationId: newId(), expiresAt } as const;
  return await api.services.db.transaction().execute((tx) => issueTask(tx, task));
}

async function reconcile(laterMs = 0): Promise<void> {
  const now = new Date(Date.now() + laterMs);
  const services = { ...servicesAsRole(api.services, 'gpuaas_worker'), clock: { now: () => now } };
  await reconcileNodes().run(services, { from: now, to: now });
}

async function rowOf(taskId: string) {
  return await api.services.db
    .selectFrom('node_tasks')
    .select(['state', 'error', 'finished_at'])
    .where('id', '=', taskId)
    .executeTakeFirstOrThrow();
}

const executionOf = async (nodeId: string): Promise<string> =>
  (await ask<{ states: { execution: string } }>(api, 'operator', 'GET', `/nodes/${nodeId}`)).body.states
    .execution;

it('an unclaimed task expires, and an event tells operators', async () => {
  const nodeId = await addNode(api);
  const waiting = await issue(nodeId, 600_000);
  const overdue = await issue(nodeId, -60_000);
  await reconcile();
  expect(await rowOf(overdue)).toMatchObject({ state: 'expired', error: { code: 'task_expired' } });
  expect((await rowOf(overdue)).finished_at).not.toBeNull();
  expect((await rowOf(waiting)).state).toBe('queued');
  const emitted = await api.services.db
    .selectFrom('outbox_events')
    .select('payload')
    .where('event_type', '=', 'node.task_changed')
    .where('subject_id', '=', overdue)
    .execute();
  expect(emitted.map(({ payload }) => payload)).toMatchObject([{ task_id: overdue, state: 'expired' }]);
  await reconcile(700_000);
  expect((await rowOf(waiting)).state).toBe('expired');
});

it('an overdue task is no work of its host, and is first left to the workflow that waits for it', async () => {
  const nodeId = await addNode(api);
  const issued = Date.now();
  const overdue = await issue(nodeId, -3_000);
  expect(await executionOf(nodeId)).toBe('idle');
  // As if the reconciler came just then, however slow the machine is.
  await reconcile(issued - Date.now());
  expect((await rowOf(overdue)).state).toBe('queued');
  await issue(nodeId, 600_000);
  expect(await executionOf(nodeId)).toBe('queued');
});

it('a host that returns too late is refused, and its report changes nothing', async () => {
  const nodeId = await addNode(api);
  const { services } = api;
  const taskId = await issue(nodeId, 60_000);
  const signed = await claimTask(services, nodeId, 0, new AbortController().signal);
  expect(signed?.task.task_id).toBe(taskId);
  await reconcile(120_000);
  const late = inScope(services.db, nodeScope(nodeId), (tx) =>
    completeTask(services, tx, nodeId, taskId, { epoch: 1, outcome: 'failed' }),
  );
  await expect(late).rejects.toMatchObject({ code: 'task_fenced' });
  expect((await rowOf(taskId)).state).toBe('expired');
});

it('a task that a process of the release before issues has a subject, and finds its tasks by allocation', async () => {
  const { db } = api.services;
  const nodeId = await addNode(api);
  const [ofHost, ofAllocation, allocationId] = [newId(), newId(), newId()];
  for (const [id, allocation] of [
    [ofHost, null],
    [ofAllocation, allocationId],
  ] as const)
    await sql`insert into node_tasks (id, node_id, kind, params, correlation_id, expires_at, allocation_id)
      values (${id}, ${nodeId}, 'slice.vm_release', '{}', ${newId()}, now(), ${allocation})`.execute(db);
  const subjects = db.selectFrom('node_tasks').select(['subject_type', 'subject_id']);
  expect(await subjects.where('id', '=', ofHost).executeTakeFirst()).toEqual({
    subject_type: 'node',
    subject_id: nodeId,
  });
  expect(await subjects.where('allocation_id', '=', allocationId).executeTakeFirst()).toEqual({
    subject_type: 'allocation',
    subject_id: allocationId,
  });
});
