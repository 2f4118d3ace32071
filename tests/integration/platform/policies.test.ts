import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestApi, type TestApi } from '../../harness/api.ts';

type Policy = components['schemas']['PolicyWithHistory'];
type Problem = { code: string; value_above?: number };

let api: TestApi;
let tenant: string;
let otherTenant: string;
beforeAll(async () => {
  api = await createTestApi();
  tenant = api.people['admin']!.organizationId!;
  otherTenant = api.people['other']!.organizationId!;
});
afterAll(() => api?.stop());

interface Answer<T> {
  status: number;
  body: T;
  etag: string;
}

async function ask<T = Policy>(
  person: string,
  method: 'GET' | 'PUT' | 'DELETE',
  path: string,
  value?: unknown,
  headers: Record<string, string> = {},
): Promise<Answer<T>> {
  const answer = await api.server.inject({
    method,
    url: `/api/v1/${path}`,
    headers: { authorization: `Bearer ${api.people[person]!.apiKey}`, ...headers },
    ...(value === undefined ? {} : { payload: { value, reason: 'for the test' } }),
  });
  return { status: answer.statusCode, body: answer.json<T>(), etag: String(answer.headers['etag']) };
}

const TOKEN = 'terminal.token_ttl_seconds';
const ofTenant = (key: string, query = ''): string => `organizations/${tenant}/policies/${key}${query}`;

it('an operator sets a policy; the next read of the same replica knows it, with who and why', async () => {
  const before = await ask('operator', 'GET', `admin/policies/${TOKEN}`);
  expect(before.body).toMatchObject({ value: 300, source: 'default', set_value: null, settable: true });
  const set = await ask('operator', 'PUT', `admin/policies/${TOKEN}`, 200, { 'if-match': before.etag });
  expect(set).toMatchObject({ status: 200, body: { value: 200, source: 'global', set_value: 200 } });
  expect(api.services.policies.get(TOKEN)).toBe(200);
  const after = await ask('operator', 'GET', `admin/policies/${TOKEN}`);
  expect(after).toMatchObject({ etag: set.etag, body: set.body });
  expect(after.body.history[0]).toMatchObject({ before: null, after: 200, reason: 'for the test' });
  const stale = await ask<Problem>('operator', 'PUT', `admin/policies/${TOKEN}`, 100, {
    'if-match': before.etag,
  });
  expect(stale).toMatchObject({ status: 412, body: { code: 'precondition_failed' } });
  const rows = await api.services.db
    .selectFrom('audit_logs')
    .select(['action', 'before', 'after', 'actor_kind', 'credential_id'])
    .where('target_id', '=', TOKEN)
    .where('result', '=', 'succeeded')
    .execute();
  expect(rows).toMatchObject([
    { action: 'policy.set', before: { value: null }, after: { value: 200 }, actor_kind: 'user' },
  ]);
  expect(rows[0]!.credential_id).toMatch(/^api_key:/);
});

it('a tenant tightens a guard-rail and cannot loosen it; tightening above applies below immediately', async () => {
  const weaker = await ask<Problem>('admin', 'PUT', ofTenant(TOKEN), 250);
  expect(weaker).toMatchObject({
    status: 422,
    body: { code: 'policy_weaker_than_guard_rail', value_above: 200 },
  });
  expect((await ask('admin', 'PUT', ofTenant(TOKEN), 150)).body).toMatchObject({
    value: 150,
    source: 'tenant',
  });
  await ask('operator', 'PUT', `admin/policies/${TOKEN}`, 100);
  expect((await ask('admin', 'GET', ofTenant(TOKEN))).body).toMatchObject({
    value: 100,
    source: 'global',
    set_value: 150,
    clamped: true,
  });
  await ask('operator', 'DELETE', `admin/policies/${TOKEN}`);
  expect((await ask('admin', 'GET', ofTenant(TOKEN))).body).toMatchObject({ value: 150, clamped: false });
  expect((await ask('admin', 'DELETE', ofTenant(TOKEN))).body).toMatchObject({
    value: 300,
    source: 'default',
  });
});

it('a value that the key cannot have, and a scope where it cannot be set, are refused by name', async () => {
  for (const value of [10, 1.5, '60', true, ['x']]) {
    const refused = await ask<Problem>('operator', 'PUT', `admin/policies/${TOKEN}`, value);
    expect(refused.status).toBe(value === 1.5 ? 400 : 422);
  }
  const here = { status: 409, body: { code: 'policy_not_settable_here' } };
  expect(await ask('admin', 'PUT', ofTenant('webhooks.max_per_project'), 500)).toMatchObject(here);
  expect(await ask('operator', 'PUT', `admin/policies/${TOKEN}?organization_id=${tenant}`, 60)).toMatchObject(
    here,
  );
  const limit = `admin/policies/webhooks.max_per_project?organization_id=${tenant}`;
  expect(await ask('operator', 'PUT', limit, 500)).toMatchObject({ status: 200, body: { source: 'tenant' } });
  expect((await ask('admin', 'GET', ofTenant('webhooks.max_per_project'))).body).toMatchObject({
    value: 500,
    settable: false,
  });
  expect(await ask('admin', 'GET', ofTenant('http.caller_burst'))).toMatchObject({ status: 404 });
});

it('a project has its own value; another tenant’s project is none of this one', async () => {
  const key = 'allocations.stop_timeout_seconds';
  const { projectId } = api.people['admin']!;
  const inProject = ofTenant(key, `?project_id=${projectId}`);
  expect((await ask('admin', 'PUT', inProject, 45)).body).toMatchObject({ value: 45, source: 'project' });
  expect((await ask('admin', 'GET', ofTenant(key))).body).toMatchObject({ value: 30, source: 'default' });
  const elsewhere = ofTenant(key, `?project_id=${api.people['other']!.projectId}`);
  expect(await ask('admin', 'PUT', elsewhere, 45)).toMatchObject({ status: 404 });
  const foreign = `organizations/${otherTenant}/policies/${key}`;
  expect(await ask('admin', 'GET', foreign)).toMatchObject({ status: 404 });
});

it('twenty concurrent changes leave a history without gaps', async () => {
  const key = 'allocations.wipe_attempts';
  await Promise.all(
    Array.from({ length: 20 }, (_, n) => ask('operator', 'PUT', `admin/policies/${key}`, 1 + (n % 10))),
  );
  const { body } = await ask('operator', 'GET', `admin/policies/${key}`);
  expect(body.history).toHaveLength(20);
  const events = await api.services.db
    .selectFrom('outbox_events')
    .select('payload')
    .where('event_type', '=', 'policy.changed')
    .execute();
  expect(events.length).toBeGreaterThanOrEqual(20);
  // Every change starts with the value that another one ended with.
  const befores = body.history.map((change) => String(change.before ?? 'none')).toSorted();
  const ends = [...body.history.map((change) => String(change.after)), 'none'];
  ends.splice(ends.indexOf(String(body.value)), 1);
  expect(befores).toEqual(ends.toSorted());
});

it('the list is paged and shows every key', async () => {
  const keys: string[] = [];
  let page: string | null = '';
  while (page !== null) {
    const query: string = page === '' ? '' : `&page=${page}`;
    const answer = await ask<{ items: { name: string }[]; next_page: string | null }>(
      'operator',
      'GET',
      `admin/policies?limit=10${query}`,
    );
    keys.push(...answer.body.items.map((item) => item.name));
    page = answer.body.next_page;
  }
  expect(keys).toEqual(keys.toSorted());
  expect(keys).toContain('audit.retention_months');
});
