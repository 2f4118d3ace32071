import type { AddressInfo } from 'node:net';
import { createGpuaasClient } from '@gpuaas/sdk/client';
import { paginate } from '@gpuaas/sdk/paginate';
import { unwrap } from '@gpuaas/sdk/problem';
import { policyRateLimits } from '@gpuaas/control-plane/platform/http/admission/rate-limits';
import { fixedPolicies } from '@gpuaas/control-plane/platform/policy/testing';
import { registerConsumer } from '@gpuaas/control-plane/platform/events/consumer-lease';
import { emit } from '@gpuaas/control-plane/platform/events/emit';
import { newId } from '@gpuaas/control-plane/platform/ids';
import { Readiness } from '@gpuaas/control-plane/platform/http/probes/readiness';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestApi, NO_LIMITS, type TestApi } from '../harness/api.ts';

let api: TestApi;
let baseUrl: string;
const readiness = new Readiness();
beforeAll(async () => {
  const database = () => api.services.database.pool.query('select 1').then(() => undefined);
  readiness.add({ name: 'database', check: database });
  api = await createTestApi({ readiness });
  baseUrl = await api.server.listen({ host: '127.0.0.1', port: 0 });
});
afterAll(() => api?.stop());

const bearer = (person: string) => ({ authorization: `Bearer ${api.people[person]!.apiKey}` });
const SKU = '/api/v1/admin/skus/h200-sxm-slice';

describe('reference pages', () => {
  it('describe every operation and need nothing from elsewhere', async () => {
    const answer = await api.server.inject('/docs');
    expect(answer.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(answer.headers['content-security-policy']).toMatch(/^default-src 'none'; style-src 'sha256-/);
    for (const name of ['createAllocation', 'getAdminSku', 'streamEvents'])
      expect(answer.body).toContain(`id="${name}"`);
    expect(answer.body).not.toMatch(/<script|<link|<img|https?:\/\//);
  });

  it('are where the type of a problem points to', async () => {
    const refusal = (await api.server.inject('/api/v1/me')).json<{ type: string; code: string }>();
    const [path, anchor] = refusal.type.split('#');
    const answer = await api.server.inject(path!);
    expect(answer.body).toContain(`id="${anchor}"`);
  });
});

describe('metrics', () => {
  it('count requests by operation and show backlogs, pool and event loop', async () => {
    await api.server.inject({ url: '/api/v1/me', headers: bearer('member') });
    await sql`insert into dbos.workflow_status (workflow_uuid, status, name, created_at, updated_at)
      values ('w', 'PENDING', 't', (extract(epoch from now()) * 1000)::bigint - 90000, 0)`.execute(
      api.services.db,
    );
    await registerConsumer(api.services.db, 'behind', 'beginning');
    await api.services.db.transaction().execute((tx) =>
      emit(tx, {
        type: 'node.enrolled',
        subjectId: newId(),
        organizationId: null,
        correlationId: newId(),
        payload: { node_id: newId(), hostname: 'h' },
      }),
    );
    const { body, headers } = await api.server.inject('/metrics');
    const lag = /gpuaas_event_consumer_lag_seconds\{consumer="behind"\} (\S+)/.exec(body)?.[1];
    expect(Number(lag)).toBeGreaterThan(0);
    expect(body).toContain('gpuaas_workflows{state="pending"} 1');
    expect(body).toMatch(/gpuaas_workflow_oldest_age_seconds\{state="pending"\} 9\d(\.\d+)?\n/);
    expect(headers['content-type']).toContain('text/plain');
    expect(body).toMatch(
      /gpuaas_http_request_duration_seconds_count\{api="public",operation="getMe",status="200"\} \d+/,
    );
    for (const name of [
      'db_pool_connections{state="waiting"}',
      'event_loop_lag_seconds{quantile="0.99"}',
      'readings_up 1',
    ]) {
      expect(body).toContain(`gpuaas_${name}`);
    }
    for (const person of Object.values(api.people))
      expect(body).not.toContain(person.organizationId ?? 'nobody');
  });

  it('are not for strangers', async () => {
    const remote = await api.server.inject({ url: '/metrics', remoteAddress: '203.0.113.7' });
    const proxied = await api.server.inject({
      url: '/metrics',
      headers: { 'x-forwarded-for': '203.0.113.7' },
    });
    expect([remote.statusCode, proxied.statusCode]).toEqual([401, 401]);
  });
});

describe('entity tags', () => {
  it('guard edits: the tag of the read lets one edit through and refuses the next', async () => {
    const read = await api.server.inject({ url: SKU, headers: bearer('operator') });
    const etag = String(read.headers['etag']);
    expect(etag).toMatch(/^"[\w-]{22}"$/);
    const edit = (enabled: boolean, tag: string, key = 'etag-key-1') =>
      api.server.inject({
        method: 'PATCH',
        url: SKU,
        headers: { ...bearer('operator'), 'if-match': tag, 'x-idempotency-key': key },
        payload: { enabled },
      });
    const edited = await edit(true, etag);
    expect(edited.statusCode).toBe(200);
    expect((await edit(true, etag)).headers['etag']).toBe(edited.headers['etag']);
    const late = await edit(false, etag, 'etag-key-2');
    expect(late.statusCode).toBe(412);
    expect(late.json()).toMatchObject({ code: 'precondition_failed', current_etag: edited.headers['etag'] });
    expect((await edit(false, `W/${String(edited.headers['etag'])}`, 'etag-key-3')).statusCode).toBe(412);
    expect((await edit(false, `"x", ${String(edited.headers['etag'])}`, 'etag-key-4')).statusCode).toBe(200);
    expect((await edit(true, '*', 'etag-key-5')).statusCode).toBe(200);
  });
});

describe('authentication', () => {
  it('ends with the very next request after a revocation', async () => {
    const me = () => api.server.inject({ url: '/api/v1/me', headers: bearer('other') });
    expect((await me()).statusCode).toBe(200);
    await api.services.db
      .updateTable('api_keys')
      .set({ revoked_at: new Date() })
      .where('prefix', '=', api.people['other']!.apiKey.slice(0, 12))
      .execute();
    expect((await me()).statusCode).toBe(401);
  });
});

describe('readiness', () => {
  it('reports each part and why it is not ready', async () => {
    expect((await api.server.inject('/readyz')).json()).toMatchObject({
      ready: true,
      parts: [
        { name: 'database', ready: true },
        { name: 'event tail', ready: true },
      ],
    });
    readiness.addMilestone('fleet', 'hosts are being enrolled');
    const answer = await api.server.inject('/readyz');
    expect(answer.statusCode).toBe(503);
    expect(answer.json<{ parts: object[] }>().parts.at(-1)).toEqual({
      name: 'fleet',
      ready: false,
      detail: 'hosts are being enrolled',
    });
  });
});

describe('the SDK against the real server', () => {
  it('walks pages', async () => {
    const { db } = api.services;
    const model = await db
      .selectFrom('sku_catalog')
      .selectAll()
      .where('sku', '=', 'h200-sxm-slice')
      .executeTakeFirstOrThrow();
    await db
      .insertInto('sku_catalog')
      .values(['a', 'b', 'c'].map((sku) => ({ ...model, sku, enabled: false })))
      .execute();
    const client = createGpuaasClient({ baseUrl, apiKey: api.people['operator']!.apiKey });
    const names: string[] = [];
    const skus = paginate((page) =>
      unwrap(client.GET('/api/v1/admin/skus', { params: { query: { limit: 1, ...page } } })),
    );
    for await (const { sku } of skus) names.push(sku);
    expect(names).toEqual(['a', 'b', 'c', 'h200-sxm-baremetal', 'h200-sxm-slice']);
  });
});

describe('rate limits', () => {
  it('bound callers, addresses and failed sign-ins, and the SDK waits them out', async () => {
    const slow = { burst: 3, perSecond: 2 };
    const limited = await createTestApi({
      rateLimits: {
        ...NO_LIMITS,
        caller: slow,
        anonymous: slow,
        failed_authentication: { burst: 2, perSecond: 0.1 },
      },
    });
    try {
      const url = await limited.server.listen({ host: '127.0.0.1', port: 0 });
      const client = createGpuaasClient({ baseUrl: url, apiKey: limited.people['member']!.apiKey });
      const answers = await Promise.all(Array.from({ length: 5 }, () => client.GET('/api/v1/me')));
      expect(answers.map(({ response }) => response.status)).toEqual([200, 200, 200, 200, 200]);

      const headers = { authorization: `Bearer ${limited.people['admin']!.apiKey}` };
      // All at the same time: one after the other a busy machine could let the limit recover.
      const raw = await Promise.all(
        Array.from({ length: 20 }, () => limited.server.inject({ url: '/api/v1/me', headers })),
      );
      const [allowed, refused] = [200, 429].map((status) => raw.filter((one) => one.statusCode === status));
      expect(allowed!.length + refused!.length).toBe(20);
      expect(allowed!.length).toBeGreaterThanOrEqual(3);
      expect(allowed!.map((one) => one.headers['ratelimit'])).toContain('"caller";r=2;t=1');
      expect(allowed![0]!.headers['ratelimit-policy']).toBe('"caller";q=3;w=2');
      expect(refused![0]!.headers['retry-after']).toBe('1');
      expect(refused![0]!.json()).toMatchObject({ code: 'rate_limited', status: 429 });

      const failures = [];
      for (let count = 0; count < 3; count += 1)
        failures.push((await limited.server.inject('/api/v1/me')).statusCode);
      expect(failures).toEqual([401, 401, 429]);
      const probes = await Promise.all(Array.from({ length: 10 }, () => limited.server.inject('/healthz')));
      expect(new Set(probes.map(({ statusCode }) => statusCode))).toEqual(new Set([200]));
    } finally {
      await limited.stop();
    }
  });

  it('are generous by default', () => {
    expect(policyRateLimits(fixedPolicies()).caller.burst).toBeGreaterThanOrEqual(1000);
  });
});

describe('stopping', () => {
  it('finishes requests in flight, ends streams politely and refuses new connections', async () => {
    const stopping = await createTestApi({ rateLimits: NO_LIMITS });
    const url = await stopping.server.listen({ host: '127.0.0.1', port: 0 });
    expect(stopping.server.server.address() as AddressInfo).not.toBeNull();
    const headers = { authorization: `Bearer ${stopping.people['operator']!.apiKey}` };
    const stream = await fetch(`${url}/api/v1/events/stream`, { headers });
    const streamed = stream.text();
    // The row is locked, so the request hangs in its transaction until we let go.
    const { pool } = stopping.services.database;
    const holder = await pool.connect();
    await holder.query('begin');
    await holder.query('select 1 from sku_catalog for update');
    const slow = fetch(url + SKU, {
      method: 'PATCH',
      headers: { ...headers, 'content-type': 'application/json' },
      body: '{"enabled":true}',
    });
    await expect
      .poll(
        async () =>
          (
            await pool.query(
              `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
            )
          ).rowCount,
      )
      .toBe(1);
    const stopped = stopping.stop();
    expect(await streamed).toContain('id: ');
    await expect(fetch(`${url}/healthz`)).rejects.toThrow();
    await holder.query('commit');
    holder.release();
    const answer = await slow;
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({ enabled: true });
    await stopped;
  });
});
