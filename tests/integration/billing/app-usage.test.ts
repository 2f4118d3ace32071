import { appendFile, mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { recordAppUsage } from '@gpuaas/control-plane/domains/billing/app-usage/record-app-usage';
import { verifyAppUsage } from '@gpuaas/control-plane/domains/billing/app-usage/verify-app-usage';
import { verifyLedger } from '@gpuaas/control-plane/domains/billing/ledger/verify-ledger';
import { verifySnapshots } from '@gpuaas/control-plane/domains/billing/metering/verify-usage';
import { closeAllMonths } from '@gpuaas/control-plane/domains/statements/close-months';
import { verifyStatements } from '@gpuaas/control-plane/domains/statements/verify-statements';
import { manualClock } from '@gpuaas/control-plane/platform/clock';
import { servicesAsRole, inScope } from '@gpuaas/control-plane/platform/db/scope';
import { newId } from '@gpuaas/control-plane/platform/ids';
import { fixedPolicies } from '@gpuaas/control-plane/platform/policy/testing';
import { startSharedModel } from '@gpuaas/lab/shared-model';
import { UsageProducer, type UsageRecord } from '@gpuaas/lab/usage-producer';
import { createGpuaasClient } from '@gpuaas/sdk/client';
import { sql } from 'kysely';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { seedAllocation } from '../../benchmarks/seed-allocation.ts';
import { createTestApi, type TestApi } from '../../harness/api.ts';

let api: TestApi;
let tenant: string;
let project: string;
let folder: string;
let baseUrl: string;

beforeAll(async () => {
  api = await createTestApi();
  tenant = api.people['member']!.organizationId!;
  project = api.people['member']!.projectId!;
  folder = await mkdtemp(join(tmpdir(), 'gpuaas-producer-'));
  await api.server.listen({ host: '127.0.0.1', port: 0 });
  baseUrl = `http://127.0.0.1:${(api.server.server.address() as AddressInfo).port}`;
  for (const [dimension, micros, per] of [
    ['tokens', 1_500_001, 1_000_000],
    ['model_seconds', 7_000_000, 3600],
  ] as const) {
    const price = { app: 'chat', dimension, price: { currency: 'USD', micros }, per };
    expect((await ask('operator', 'POST', '/api/v1/admin/app-usage-prices', price)).status).toBe(201);
  }
});
afterAll(async () => {
  await api?.stop();
  await rm(folder, { recursive: true, force: true });
});

async function ask(person: string, method: 'GET' | 'POST', url: string, payload?: object) {
  const headers = { authorization: `Bearer ${api.people[person]!.apiKey}` };
  const answer = await api.server.inject({ method, url, headers, ...(payload ? { payload } : {}) });
  return { status: answer.statusCode, body: answer.json(), headers: answer.headers };
}

const record = (change: Partial<UsageRecord> = {}): UsageRecord => ({
  record_id: newId(),
  organization_id: tenant,
  project_id: project,
  app: 'chat',
  dimension: 'tokens',
  quantity: 1000,
  occurred_at: new Date().toISOString(),
  ...change,
});
const report = (...records: UsageRecord[]) =>
  ask('operator', 'POST', '/api/v1/admin/app-usage-records', { producer: 'gateway', records });
const balance = async (): Promise<number> =>
  (await ask('admin', 'GET', `/api/v1/billing/balance?organization_id=${tenant}`)).body.balances[0].micros;
const span = () =>
  `from=${new Date(Date.now() - 3_600_000).toISOString()}&to=${new Date(Date.now() + 60_000).toISOString()}`;

async function expectBooksHold(): Promise<void> {
  const { db } = api.services;
  expect((await verifyLedger(db)).faults).toEqual([]);
  expect(await verifySnapshots(db)).toEqual([]);
  expect((await verifyAppUsage(db)).faults).toEqual([]);
}

describe('app usage', () => {
  it('is debited at its price, however it is cut into records, and once however often it is sent', async () => {
    const before = await balance();
    const records = Array.from({ length: 40 }, (_, index) => record({ quantity: 7 + index * 13 }));
    const total = records.reduce((sum, { quantity }) => sum + quantity, 0);
    const [first, again, third] = await Promise.all([
      report(...records),
      report(...records),
      report(...records.toReversed()),
    ]);
    const recorded = [first, again, third].map(({ body }) => body.recorded);
    expect(recorded.toSorted((a, b) => a - b)).toEqual([0, 0, 40]);
    expect(before - (await balance())).toBe(Math.floor((1_500_001 * total) / 1_000_000));
    await expectBooksHold();
  });

  it('answers for each record: one that is wrong keeps no other back', async () => {
    const good = record();
    const { body } = await report(
      good,
      good,
      { ...good, quantity: 5 },
      record({ project_id: api.people['other']!.projectId! }),
      record({ allocation_id: newId() }),
      record({ user_id: newId() }),
      record({ occurred_at: '2020-01-01T00:00:00Z' }),
      record({ occurred_at: new Date(Date.now() + 3_600_000).toISOString() }),
    );
    expect(
      body.results.map(({ outcome, code }: { outcome: string; code: string }) => [outcome, code]),
    ).toEqual([
      ['recorded', null],
      ['duplicate', null],
      ['refused', 'record_conflict'],
      ['refused', 'place_unknown'],
      ['refused', 'place_unknown'],
      ['refused', 'place_unknown'],
      ['refused', 'time_refused'],
      ['refused', 'time_refused'],
    ]);
    expect((await report(record({ quantity: 0 }))).status).toBe(400);
    expect((await report(record({ dimension: 'gpu_seconds' as 'tokens' }))).status).toBe(400);
    await expectBooksHold();
  });

  it('never charges time that a lease pays for, not even past the service', async () => {
    const lease = await seedAllocation(api.services.db, api.people['member']!);
    const before = await balance();
    const shared = record({ dimension: 'model_seconds', quantity: 3600 });
    const { body } = await report(
      record({ dimension: 'model_seconds', quantity: 3600, allocation_id: lease }),
      shared,
    );
    expect(body.results[0]).toMatchObject({ outcome: 'recorded', amount: null });
    expect(body.results[0].detail).toContain('lease pays');
    expect(before - (await balance())).toBe(7_000_000);
    await expect(
      sql`insert into app_usage_records select (jsonb_populate_record(null::app_usage_records, to_jsonb(r)
          || jsonb_build_object('id', gen_random_uuid(), 'record_id', 'x', 'allocation_id', ${lease}::text, 'currency', 'USD',
            'sequence', 99, 'quantity_before', 7200))).*
        from app_usage_records r where record_id = ${shared.record_id}`.execute(api.services.db),
    ).rejects.toThrow('app_usage_never_charges_time_of_a_lease');
    await expect(
      sql`insert into app_usage_prices (id, app, dimension, currency, per_block_micros, block, effective_from)
        values (gen_random_uuid(), 'chat', 'gpu_seconds', 'USD', 1, 1, now())`.execute(api.services.db),
    ).rejects.toThrow('app_usage_prices_dimension_check');
  });

  it('is recorded without a charge where it has no price', async () => {
    const { body } = await report(record({ app: 'free' }));
    expect(body.results[0]).toMatchObject({ outcome: 'recorded', amount: null, detail: 'it has no price' });
  });

  it('stands beside the leases in what a tenant pays, and broken down for operators', async () => {
    const { body } = await ask(
      'admin',
      'GET',
      `/api/v1/billing/app-usage?organization_id=${tenant}&${span()}`,
    );
    const [cost] = body.costs;
    expect(cost.total.micros).toBe(cost.leases.micros + cost.apps.micros);
    expect(cost.apps.micros).toBeGreaterThan(7_000_000);
    expect(body.items).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ app: 'chat', dimension: 'tokens', producer: 'gateway' }),
      ]),
    );
    const first = await ask('operator', 'GET', `/api/v1/admin/app-usage-records?limit=1&${span()}`);
    const second = await ask(
      'operator',
      'GET',
      `/api/v1/admin/app-usage-records?limit=1&page=${first.body.next_page}&${span()}`,
    );
    expect(second.body.items[0]).not.toEqual(first.body.items[0]);
    expect((await ask('admin', 'GET', `/api/v1/admin/app-usage-records?${span()}`)).status).toBe(403);
    const foreign = `/api/v1/billing/app-usage?organization_id=${tenant}&${span()}`;
    expect((await ask('other', 'GET', foreign)).status).toBe(404);
    const forged = { producer: 'gateway', records: [record()] };
    expect((await ask('admin', 'POST', '/api/v1/admin/app-usage-records', forged)).status).toBe(403);
  });

  it('is limited by the minute for each producer, over all replicas', async () => {
    const { db } = api.services;
    const strict = {
      clock: manualClock(new Date()),
      policies: fixedPolicies({ 'app_usage.records_per_minute': 500 }),
    };
    const send = (count: number) =>
      inScope(db, { role: 'gpuaas_operator' }, (tx) =>
        recordAppUsage(strict, tx, {
          producer: 'eager',
          records: Array.from({ length: count }, () => record()),
          actorUserId: null,
          correlationId: newId(),
        }),
      );
    await expect(send(501)).rejects.toMatchObject({ code: 'rate_limited' });
    expect(await send(500)).toHaveLength(500);
    await expect(send(1)).rejects.toMatchObject({ code: 'rate_limited' });
  });
});

describe('the producer of the lab', () => {
  it('loses nothing and counts nothing twice when the answer or the process is lost', async () => {
    const journal = join(folder, 'journal');
    let lost = 2;
    const client = createGpuaasClient({
      baseUrl,
      apiKey: api.people['operator']!.apiKey,
      retry: { attempts: 1 },
      fetch: async (request) => {
        const answer = await fetch(request);
        if (lost-- > 0) throw new TypeError('the answer was lost');
        return answer;
      },
    });
    const producer = () => new UsageProducer({ client, name: 'lab-chat', journal });
    const records = Array.from({ length: 620 }, () => record({ quantity: 11 }));
    const before = await balance();
    await producer().add(...records);
    await appendFile(journal, '{"record_id": "half a li');
    await producer().add(record({ allocation_id: newId() }));
    await expect(producer().flush()).rejects.toThrow('lost');
    await expect(producer().flush()).rejects.toThrow('lost');
    expect(await producer().flush()).toMatchObject([{ outcome: 'refused', code: 'place_unknown' }]);
    expect(await producer().flush()).toEqual([]);
    const { rows } = await sql<{ n: number; tokens: number }>`
      select count(*)::int as n, sum(quantity)::int as tokens from app_usage_records where producer = 'lab-chat'`.execute(
      api.services.db,
    );
    expect(rows[0]).toEqual({ n: 620, tokens: 6820 });
    expect(before - (await balance())).toBeGreaterThan(0);
    await expectBooksHold();
  });
});

describe('the shared model of the lab', () => {
  it('serves callers with a key, and bills the tokens that it read and wrote', async () => {
    const operator = createGpuaasClient({ baseUrl, apiKey: api.people['operator']!.apiKey });
    const log = { info: () => undefined, warn: () => undefined };
    const start = () => startSharedModel({ client: operator, baseUrl, journal: join(folder, 'model'), log });
    await (await start()).stop();
    const model = await start();
    try {
      const openai = (apiKey: string) => new OpenAI({ baseURL: `${model.url}/v1`, apiKey });
      const ask = { model: 'tiny-llm', prompt: 'The host', max_tokens: 20 };
      const before = await balance();
      await expect(openai('gpk_nobody').completions.create(ask)).rejects.toMatchObject({
        status: 401,
        code: 'invalid_api_key',
      });
      const caller = openai(api.people['member']!.apiKey);
      await expect(caller.completions.create({ ...ask, model: 'gpt' })).rejects.toMatchObject({
        status: 404,
      });
      const whole = await caller.completions.create(ask);
      const stream = await caller.chat.completions.create({
        model: 'tiny-llm',
        messages: [{ role: 'user', content: 'What is a slice?' }],
        stream: true,
        stream_options: { include_usage: true },
      });
      let tokens = whole.usage!.total_tokens;
      for await (const { usage } of stream) tokens += usage?.total_tokens ?? 0;
      expect(tokens).toBeGreaterThan(16);
      await model.report();
      // Refused requests cost nothing; two answers cost a request each.
      expect(before - (await balance())).toBe(20 * tokens + 2000);
    } finally {
      await model.stop();
    }
  });

  it('bills a caller who leaves for what was generated until then', async () => {
    const operator = createGpuaasClient({ baseUrl, apiKey: api.people['operator']!.apiKey });
    const log = { info: () => undefined, warn: () => undefined };
    const model = await startSharedModel({ client: operator, baseUrl, journal: join(folder, 'left'), log });
    try {
      const before = await balance();
      const caller = new OpenAI({ baseURL: `${model.url}/v1`, apiKey: api.people['member']!.apiKey });
      const stream = await caller.completions.create({
        model: 'tiny-llm',
        prompt: 'The host',
        max_tokens: 1024,
        n: 4,
        stream: true,
      });
      for await (const _ of stream) break;
      await expect
        .poll(async () => {
          await model.report();
          return before - (await balance());
        })
        .toBeGreaterThan(1000);
      await expectBooksHold();
    } finally {
      await model.stop();
    }
  });
});

describe('what was used of apps', () => {
  it('is in cost and revenue reports, and in the statement of the month', async () => {
    const usage = await ask('admin', 'GET', `/api/v1/billing/app-usage?organization_id=${tenant}&${span()}`);
    const apps = usage.body.costs[0].apps.micros;
    const sum = ({ body }: Awaited<ReturnType<typeof ask>>) =>
      body.items.reduce(
        (total: number, { amount }: { amount: { micros: number } }) => total + amount.micros,
        0,
      );
    const costs = `/api/v1/billing/reports/costs?organization_id=${tenant}&${span()}`;
    for (const group of ['sku', 'project', 'user', 'day']) {
      expect(sum(await ask('admin', 'GET', `${costs}&group_by=${group}`)), group).toBe(apps);
    }
    expect(sum(await ask('operator', 'GET', `/api/v1/admin/reports/revenue?${span()}&group_by=tenant`))).toBe(
      apps,
    );
    const worker = servicesAsRole(api.services, 'gpuaas_worker');
    const clock = manualClock(new Date(Date.now() + 62 * 86_400_000));
    await closeAllMonths({ ...worker, clock });
    const list = await ask('admin', 'GET', `/api/v1/billing/statements?organization_id=${tenant}`);
    const { id } = list.body.items.at(-1);
    const { body } = await ask('admin', 'GET', `/api/v1/billing/statements/${id}`);
    expect(body.totals.app_usage.micros).toBe(-apps);
    expect(body.app_usage).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ app: 'tiny-llm', dimension: 'requests', quantity: 3 }),
      ]),
    );
    const headers = { authorization: `Bearer ${api.people['admin']!.apiKey}` };
    const csv = await api.server.inject({ url: `/api/v1/billing/statements/${id}/csv`, headers });
    expect(csv.body).toContain('tiny-llm: 3 requests at 0.001000 for 1');
    const pdf = await api.server.inject({ url: `/api/v1/billing/statements/${id}/pdf`, headers });
    expect(pdf.statusCode).toBe(200);
    expect((await verifyStatements(api.services.db)).faults).toEqual([]);
    await expectBooksHold();
  });
});
