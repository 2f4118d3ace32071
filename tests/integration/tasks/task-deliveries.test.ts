import { sql } from 'kysely';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { issueTask } from '@gpuaas/control-plane/domains/tasks/issue-task';
import { newId } from '@gpuaas/control-plane/platform/ids';
import { createTestApi, createTestNodeApi, TEST_NODE_HEADER, type TestApi } from '../../harness/api.ts';
import { addNode, candidate } from '../../harness/fleet/fleet.ts';

let api: TestApi;
let node: FastifyInstance;
let nodeId: string;
beforeAll(async () => {
  api = await createTestApi();
  node = await createTestNodeApi(api);
  nodeId = await addNode(api);
});
afterAll(async () => {
  await node?.close();
  await api?.stop();
});

async function send(path: string, payload: object): Promise<number> {
  const headers = { [TEST_NODE_HEADER]: nodeId };
  return (await node.inject({ method: 'POST', url: `/node/v1${path}`, headers, payload })).statusCode;
}

async function issue(): Promise<string> {
  const expiresAt = new Date(Date.now() + 3_600_000);
  return await api.services.db.transaction().execute((tx) =>
    issueTask(tx, {
      nodeId,
      kind: 'slice.topology_discover',
      params: {},
      correlationId: newId(),
      expiresAt,
    }),
  );
}

/** Claims it; a second claim finds the lease run out, as if so much time had passed. */
async function claim(taskId: string): Promise<void> {
  await api.services.db
    .updateTable('node_tasks')
    .set({ lease_expires_at: sql`now() - interval '1 second'` })
    .where('id', '=', taskId)
    .where('state', '=', 'claimed')
    .execute();
  expect(await send('/tasks/claim', { wait_seconds: 0 })).toBe(200);
}

const outputOf = (epoch: number) => ({
  approval_required: true,
  candidates: [candidate(epoch)],
  left_out: [],
});

type Message = { call: 'progress' | 'complete'; epoch: number };

const deliver = (taskId: string, { call, epoch }: Message): Promise<number> =>
  call === 'progress'
    ? send(`/tasks/${taskId}/progress`, { epoch, stage: 'discover', percent: 50, message: 'reading' })
    : send(`/tasks/${taskId}/complete`, { epoch, outcome: 'succeeded', output: outputOf(epoch) });

function permutations<T>(items: T[]): T[][] {
  if (items.length < 2) return [items];
  return items.flatMap((item, index) =>
    permutations(items.toSpliced(index, 1)).map((rest) => [item, ...rest]),
  );
}

const MESSAGES: Message[] = [
  { call: 'progress', epoch: 1 },
  { call: 'complete', epoch: 1 },
  { call: 'progress', epoch: 2 },
  { call: 'complete', epoch: 2 },
];

it('the outcome of the latest attempt counts once, in any order and number of deliveries', async () => {
  for (const order of permutations(MESSAGES)) {
    const taskId = await issue();
    await claim(taskId);
    await claim(taskId);
    for (const message of order) {
      const answers = [await deliver(taskId, message), await deliver(taskId, message)];
      // The first attempt was fenced when the second began; of the second, progress is late after its outcome.
      const late = message.call === 'progress' && isAfterOutcome(order, message);
      const expected = message.epoch === 1 || late ? 409 : 204;
      expect(answers, JSON.stringify({ order, message })).toEqual([expected, expected]);
    }
    const task = await api.services.db
      .selectFrom('node_tasks')
      .select(['state', 'epoch', 'output'])
      .where('id', '=', taskId)
      .executeTakeFirstOrThrow();
    expect(task).toMatchObject({ state: 'succeeded', epoch: 2, output: outputOf(2) });
    expect(await timesTold(taskId, 'succeeded')).toBe(1);
  }
});

function isAfterOutcome(order: Message[], { epoch }: Message): boolean {
  const at = (call: Message['call']) => order.findIndex((one) => one.call === call && one.epoch === epoch);
  return at('complete') < at('progress');
}

async function timesTold(taskId: string, state: string): Promise<number> {
  const { rows } = await sql<{ count: string }>`select count(*) from outbox_events
    where subject_id = ${taskId} and payload ->> 'state' = ${state}`.execute(api.services.db);
  return Number(rows[0]!.count);
}

it('two answers of one attempt that disagree: the first stands', async () => {
  const taskId = await issue();
  await claim(taskId);
  expect(await deliver(taskId, { call: 'complete', epoch: 1 })).toBe(204);
  const failure = { epoch: 1, outcome: 'failed', error: { code: 'x', detail: 'later' } };
  expect(await send(`/tasks/${taskId}/complete`, failure)).toBe(409);
  const { state } = await api.services.db
    .selectFrom('node_tasks')
    .select('state')
    .where('id', '=', taskId)
    .executeTakeFirstOrThrow();
  expect(state).toBe('succeeded');
});

it('one of many concurrent claims gets the task', async () => {
  const taskId = await issue();
  const claims = await Promise.all(
    Array.from({ length: 8 }, () => send('/tasks/claim', { wait_seconds: 0 })),
  );
  expect(claims.filter((status) => status === 200)).toHaveLength(1);
  expect(await timesTold(taskId, 'claimed')).toBe(1);
});
