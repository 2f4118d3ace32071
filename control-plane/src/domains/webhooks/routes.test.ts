import document from '@gpuaas/contracts/generated/openapi.json' with { type: 'json' };
import { fixedPolicies } from '../../platform/policy/testing.ts';
import { policyRateLimits } from '../../platform/http/admission/rate-limits.ts';
import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import cookie from '@fastify/cookie';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { unlimitedDenials } from '../../platform/audit/testing/denials.ts';
import { authenticate } from '../tenancy/credentials/authenticate.ts';
import type { Caller } from '../../platform/auth/caller.ts';
import { createContractServer, type ContractServer } from '../../platform/http/contract-server.ts';
import type { ContractDocument } from '../../platform/http/operation.ts';
import { Mismatches } from '../../platform/http/responses/testing/mismatches.ts';
import { newId } from '../../platform/ids.ts';
import type { Services } from '../../platform/services.ts';
import { webhookRoutes } from './routes.ts';
import { openTestWebhooks, type TestWebhooks } from './testing.ts';

type WithSecret = components['schemas']['WebhookWithSecret'];

let world: TestWebhooks;
let api: ContractServer;
const mismatches = new Mismatches();

beforeAll(async () => {
  world = await openTestWebhooks();
  const { paths, ...rest } = document as unknown as ContractDocument & Record<string, unknown>;
  const own = Object.fromEntries(
    Object.entries(paths).filter(([path]) => path.startsWith('/api/v1/webhooks')),
  );
  api = await createContractServer<Caller>({
    name: 'public',
    document: { ...rest, paths: own },
    handlers: webhookRoutes(world.services as Services),
    authenticate: (request, operation) => authenticate(world.services.database, request, operation),
    db: world.services.db,
    rateLimits: policyRateLimits(fixedPolicies()),
    denials: unlimitedDenials(world.services),
    log: world.services.log,
    onMismatch: mismatches.onMismatch,
    prepare: async (server) => {
      await server.register(cookie);
    },
  });
});
afterAll(async () => {
  await api.stop();
  await world.close();
  mismatches.assertNone();
});

const person = (key: string) => world.people.find((someone) => someone.key === key)!;

async function ask(
  key: string,
  method: 'GET' | 'POST' | 'DELETE',
  path: string,
  body?: object,
  headers = {},
) {
  const response = await api.server.inject({
    method,
    url: `/api/v1/webhooks${path}`,
    headers: { authorization: `Bearer ${person(key).apiKey}`, ...headers },
    ...(body ? { payload: body } : {}),
  });
  return {
    status: response.statusCode,
    body: response.body ? (response.json() as unknown) : undefined,
    response,
  };
}

const valid = () => ({ project_id: person('admin').projectId, url: 'https://hooks.example.com/gpuaas' });

async function created(): Promise<WithSecret> {
  const answer = await ask('admin', 'POST', '', valid());
  expect(answer.status).toBe(201);
  return answer.body as WithSecret;
}

test('a webhook is created with a secret that is shown once and not stored for a replay', async () => {
  const headers = { 'x-idempotency-key': newId() };
  const first = await ask('admin', 'POST', '', { ...valid(), event_types: ['allocation.active'] }, headers);
  const { webhook, secret } = first.body as WithSecret;
  expect(secret).toMatch(/^whsec_/);
  expect(first.response.headers.location).toBe(`/api/v1/webhooks/${webhook.id}`);
  const again = await ask('admin', 'POST', '', { ...valid(), event_types: ['allocation.active'] }, headers);
  expect(again.body).toEqual({ webhook, secret: null, secret_already_shown: true });
  expect((await ask('admin', 'GET', `/${webhook.id}`)).body).toEqual(webhook);
  const kept = await world.services.db.selectFrom('idempotency_keys').selectAll().execute();
  const audited = await world.services.db.selectFrom('audit_logs').selectAll().execute();
  expect(
    JSON.stringify([kept, audited], (_, value: unknown) =>
      typeof value === 'bigint' ? String(value) : value,
    ),
  ).not.toContain(secret!.slice(6));
  expect(audited).toContainEqual(
    expect.objectContaining({ action: 'webhook.create', target_id: webhook.id }),
  );
});

test.each([
  ['http://hooks.example.com/', 'webhook_url_refused'],
  ['https://169.254.169.254/latest/meta-data', 'webhook_url_refused'],
  ['https://[::1]:8443/', 'webhook_url_refused'],
])('%s is refused', async (url, code) => {
  const answer = await ask('admin', 'POST', '', { ...valid(), url });
  expect(answer).toMatchObject({ status: 422, body: { code, errors: [{ pointer: '/url' }] } });
});

test('event types of operators cannot be subscribed to', async () => {
  const answer = await ask('admin', 'POST', '', {
    ...valid(),
    event_types: ['allocation.active', 'node.enrolled'],
  });
  expect(answer).toMatchObject({
    status: 422,
    body: { code: 'webhook_event_type_unknown', errors: [{ pointer: '/event_types/1' }] },
  });
});

test('members may read, admins may change, strangers get 404', async () => {
  const { webhook } = await created();
  const project = `?project_id=${webhook.project_id}`;
  expect((await ask('member', 'GET', project)).status).toBe(200);
  expect((await ask('member', 'GET', `/${webhook.id}/deliveries`)).status).toBe(200);
  expect(await ask('member', 'POST', '', valid())).toMatchObject({
    status: 403,
    body: { permission: 'webhook.manage' },
  });
  const changes = ['/rotate-secret', '/enable', '/test', `/deliveries/${newId()}/replay`].map(
    (verb) => ['POST', verb] as const,
  );
  for (const [method, verb] of [...changes, ['DELETE', ''] as const]) {
    expect((await ask('member', method, `/${webhook.id}${verb}`)).status).toBe(403);
    expect((await ask('other', method, `/${webhook.id}${verb}`)).status).toBe(404);
  }
  expect((await ask('other', 'GET', project)).status).toBe(404);
  expect((await ask('other', 'GET', `/${webhook.id}`)).status).toBe(404);
  expect((await ask('operator', 'GET', `/${webhook.id}`)).status).toBe(404);
});

test('rotate, test, replay, list and delete', async () => {
  const { webhook, secret } = await created();
  const rotated = await ask('admin', 'POST', `/${webhook.id}/rotate-secret`);
  expect((rotated.body as WithSecret).secret).not.toBe(secret);
  expect((rotated.body as WithSecret).webhook.previous_secret_expires_at).not.toBeNull();
  const tested = await ask('admin', 'POST', `/${webhook.id}/test`);
  expect(tested).toMatchObject({
    status: 202,
    body: { event_type: 'webhook.test', state: 'pending', attempts: [] },
  });
  const { id } = tested.body as components['schemas']['WebhookDelivery'];
  expect(await ask('admin', 'POST', `/${webhook.id}/deliveries/${id}/replay`)).toMatchObject({
    status: 202,
    body: { replay_of: id },
  });
  const page = await ask('admin', 'GET', `/${webhook.id}/deliveries?limit=1`);
  const { items, next_page } = page.body as { items: { replay_of: string }[]; next_page: string };
  expect(items).toMatchObject([{ replay_of: id }]);
  const rest = await ask('admin', 'GET', `/${webhook.id}/deliveries?limit=1&page=${next_page}`);
  expect(rest.body).toMatchObject({ items: [{ id }], next_page: null });
  expect((await ask('admin', 'GET', `/${webhook.id}/deliveries?state=failed`)).body).toMatchObject({
    items: [],
  });
  expect((await ask('admin', 'DELETE', `/${webhook.id}`)).status).toBe(204);
  expect((await ask('admin', 'GET', `/${webhook.id}`)).status).toBe(404);
});

test('a project can have twenty', async () => {
  const statuses = await Promise.all(Array.from({ length: 25 }, () => ask('admin', 'POST', '', valid())));
  expect(statuses.some((answer) => answer.status === 409)).toBe(true);
  const { body } = await ask('admin', 'GET', `?project_id=${valid().project_id}&limit=200`);
  expect((body as { items: unknown[] }).items).toHaveLength(20);
});
