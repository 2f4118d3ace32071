import type pg from 'pg';
import type { LightMyRequestResponse } from 'fastify';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { createTestApi, type TestApi } from '../harness/api.ts';

const KEY = 'equal-requests';
const SKU = '/api/v1/admin/skus/h200-sxm-slice';

let api: TestApi;
let holder: pg.PoolClient;
beforeAll(async () => {
  api = await createTestApi();
});
afterAll(() => api?.stop());
beforeEach(async () => {
  holder = await api.services.database.pool.connect();
  await holder.query('begin');
});
afterEach(async () => {
  await holder.query('rollback');
  holder.release();
});

const bearer = (person: string) => ({ authorization: `Bearer ${api.people[person]!.apiKey}` });

async function edit(key: string): Promise<LightMyRequestResponse> {
  return await api.server.inject({
    method: 'PATCH',
    url: SKU,
    headers: { ...bearer('operator'), 'x-idempotency-key': key },
    payload: { enabled: true },
  });
}

async function waitingForLocks(): Promise<number> {
  // Not in the holder's transaction, which would see the same moment each time.
  const { rows } = await api.services.database.pool.query<{ count: number }>(
    `select count(*)::int as count from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`,
  );
  return rows[0]!.count;
}

function expectInProgress(answer: LightMyRequestResponse): void {
  expect(answer.statusCode).toBe(409);
  expect(answer.json()).toMatchObject({ code: 'idempotency_in_progress' });
  expect(answer.headers['retry-after']).toBe('2');
}

it('40 equal requests wait for the first one without delaying anybody else, and get its answer', async () => {
  await holder.query('select 1 from sku_catalog for update');
  let answered = 0;
  const equal = Array.from({ length: 40 }, async () => {
    const answer = await edit(KEY);
    answered += 1;
    return answer;
  });
  await expect.poll(waitingForLocks).toBe(1);
  const url = `/api/v1/allocations?project_id=${api.people['other']!.projectId}`;
  const read = await api.server.inject({ url, headers: bearer('other') });
  expect(read.statusCode).toBe(200);
  expect(answered).toBe(0);
  expect(await waitingForLocks()).toBe(1);

  await holder.query('commit');
  const answers = await Promise.all(equal);
  expect(new Set(answers.map(({ statusCode }) => statusCode))).toEqual(new Set([200]));
  expect(new Set(answers.map(({ body }) => body)).size).toBe(1);
  const decisions = await api.services.db
    .selectFrom('audit_logs')
    .selectAll()
    .where('action', '=', 'sku.update')
    .execute();
  expect(decisions).toHaveLength(1);
});

it('asks an equal request to retry later while the first one runs, here or in another process', async () => {
  await holder.query('select 1 from sku_catalog for update');
  // Another process holds its key by the row it has not committed.
  const elsewhere = 'held-by-another-process';
  await holder.query(
    `insert into idempotency_keys (caller_id, key, operation, request_hash)
      select caller_id, $1, operation, request_hash from idempotency_keys where key = $2`,
    [elsewhere, KEY],
  );
  const first = edit('slow-request');
  await expect.poll(waitingForLocks).toBe(1);
  const refused = await Promise.all([edit('slow-request'), edit('slow-request'), edit(elsewhere)]);
  for (const answer of refused) expectInProgress(answer);

  await holder.query('rollback');
  expect((await first).statusCode).toBe(200);
  expect((await edit('slow-request')).body).toBe((await first).body);
});

it('a request that fails leaves the key to the next one', async () => {
  const url = '/api/v1/admin/skus/no-such-sku';
  const headers = { ...bearer('operator'), 'x-idempotency-key': 'failing-request' };
  const ask = () => api.server.inject({ method: 'PATCH', url, headers, payload: { enabled: true } });
  const answers = await Promise.all([ask(), ask(), ask()]);
  expect(answers.map(({ statusCode }) => statusCode)).toEqual([404, 404, 404]);
});
