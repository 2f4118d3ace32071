import { generateKeyPairSync } from 'node:crypto';
import fc from 'fast-check';
import document from '@gpuaas/contracts/generated/openapi.json' with { type: 'json' };
import nodeDocument from '@gpuaas/contracts/generated/node-openapi.json' with { type: 'json' };
import { newSecret } from '@gpuaas/control-plane/platform/auth/secrets';
import { Readiness } from '@gpuaas/control-plane/platform/http/probes/readiness';
import { createLogger } from '@gpuaas/control-plane/platform/telemetry/logger';
import { startTracing } from '@gpuaas/control-plane/platform/telemetry/tracing';
import type { FastifyInstance, InjectOptions } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestApi, createTestNodeApi, TEST_NODE_HEADER, type TestApi } from '../harness/api.ts';
import { everyRow } from '../harness/every-row.ts';
import { openSignIn } from '../harness/sign-in/open-sign-in.ts';
import { startTraceCollector, type TraceCollector } from '../harness/servers/trace-collector.ts';
import { seedKnownResources } from './known-resources.ts';
import { collectedElsewhere } from './not-secret.ts';
import { Contract } from './operations.ts';
import { plainRequests } from './requests.ts';
import { fieldsOf, secretsIn } from './secret-fields.ts';
import { requestsWithSecrets } from './secret-requests.ts';

/** Secrets by name; none may leave through anything the platform emits. */
const canaries = new Map<string, string>();
const lines: string[] = [];
const refusals: string[] = [];
/** Marked fields that were sent or shown. */
const seen = new Set<string>();
const contracts = { public: new Contract(document), node: new Contract(nodeDocument) };

let api: TestApi;
let node: FastifyInstance;
let csrf: string;
let collector: TraceCollector;
let stopTracing: () => Promise<void>;
beforeAll(async () => {
  collector = await startTraceCollector();
  stopTracing = await startTracing('canary', { OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint });
  const log = createLogger('canary', { write: (line: string) => void lines.push(line) });
  log.level = 'trace';
  const readiness = new Readiness();
  const databaseUrl = `postgres://gpuaas:${plant('database password', 'dbcanary-7f3a9c')}@db.internal:5432/gpuaas`;
  readiness.add({
    name: 'database',
    check: () => Promise.reject(new Error(`cannot connect to ${databaseUrl}`)),
  });
  api = await createTestApi({ log, readiness });
  node = await createTestNodeApi(api);
  log.error(
    { err: new Error(`pool of ${databaseUrl} ended`, { cause: { url: databaseUrl } }) },
    `lost ${databaseUrl}`,
  );
});
afterAll(async () => {
  await node?.close();
  await api?.stop();
  await stopTracing?.();
  await collector?.close();
});

function plant(name: string, secret: string): string {
  canaries.set(name, secret);
  return secret;
}

async function send(
  server: FastifyInstance,
  request: InjectOptions,
): Promise<{ status: number; body: string }> {
  const answer = await server.inject(request);
  const content = `${JSON.stringify(answer.headers)}\n${answer.body}`;
  // A success may return a secret to its owner, once; a failure must not reveal any.
  if (answer.statusCode >= 400) refusals.push(content);
  else collect(server, request, answer.statusCode, answer.body);
  return { status: answer.statusCode, body: answer.body };
}

/** Keeps every marked value an answer shows. */
function collect(server: FastifyInstance, request: InjectOptions, status: number, body: string): void {
  const contract = contracts[server === node ? 'node' : 'public'];
  const operation = contract.operationAt(request.method ?? 'GET', request.url as string);
  const schema = operation && contract.response(operation, status)?.content?.['application/json']?.schema;
  if (!schema) return;
  for (const { where, value } of secretsIn(contract, schema, JSON.parse(body), `${operation.id}/${status}`)) {
    seen.add(where);
    canaries.set(`${where} of ${operation.id} #${canaries.size}`, value);
  }
}

function plantField(where: string, secret: string): string {
  seen.add(where);
  return plant(`${where} #${canaries.size}`, secret);
}

describe('secrets', () => {
  it('are sent in every field the contract marks, and taken from every answer that shows one', async () => {
    const { nodeId, valuesFor } = await seedKnownResources(api);
    for (const [name, contract] of Object.entries(contracts)) {
      const server = name === 'node' ? node : api.server;
      for (const operation of contract.operations) {
        if (operation.id === 'streamEvents') continue;
        const known = valuesFor(operation.id);
        const shows = fieldsOf(contract, operation).response.some(({ schema }) => schema['x-secret']);
        const requests = [
          ...(shows ? fc.sample(plainRequests(contract, operation, known), { seed: 1, numRuns: 2 }) : []),
          ...requestsWithSecrets(contract, operation, known, plantField),
        ];
        const credentials = [
          {},
          { [TEST_NODE_HEADER]: nodeId },
          ...Object.values(api.people).map(({ apiKey }) => ({ authorization: `Bearer ${apiKey}` })),
        ];
        for (const { method, url, headers, payload } of requests) {
          for (const credential of credentials) {
            const whole = { method: method as 'GET', url, headers: { ...headers, ...credential } };
            await send(server, payload === undefined ? whole : { ...whole, payload });
          }
        }
      }
    }
  });

  it('are sent in every place a secret has, with success and without', async () => {
    for (const [name, person] of Object.entries(api.people)) plant(`api key of ${name}`, person.apiKey);
    const operator = { authorization: `Bearer ${api.people['operator']!.apiKey}` };
    expect((await send(api.server, { url: '/api/v1/me', headers: operator })).status).toBe(200);

    const unknownKey = plant('unknown api key', newSecret('api_key'));
    const malformedKey = plant('malformed api key', 'gpk_canarycanarycanarycanary');
    const basic = plant('basic password', Buffer.from('someone:basic-canary-51ab').toString('base64'));
    for (const authorization of [
      `Bearer ${unknownKey}`,
      `Bearer ${malformedKey}`,
      `Basic ${basic}`,
      malformedKey,
    ]) {
      expect((await send(api.server, { url: '/api/v1/me', headers: { authorization } })).status).toBe(401);
    }
    for (const url of [
      `/api/v1/me?api_key=${unknownKey}`,
      `/nowhere/${unknownKey}`,
      `/api/v1/allocations/${unknownKey}`,
    ]) {
      expect((await send(api.server, { url, headers: operator })).status).toBeGreaterThanOrEqual(400);
    }

    const signIn = await openSignIn(api, api.people['admin']!.email);
    const cookie = `gpuaas_sign_in=${plant('sign-in cookie', signIn.secret)}`;
    const me = await send(api.server, { url: '/api/v1/me', headers: { cookie } });
    csrf = plant('csrf token', (JSON.parse(me.body) as { csrf_token: string }).csrf_token);
    const wrongCsrf = plant('wrong csrf token', 'csrfcanary-0a1b2c3d4e5f');
    expect(
      (
        await send(api.server, {
          method: 'POST',
          url: '/auth/logout',
          headers: { cookie, 'x-csrf-token': wrongCsrf },
        })
      ).status,
    ).toBe(403);
    const forged = `gpuaas_sign_in=${plant('forged cookie', 'cookiecanary-aa55aa55')}`;
    expect((await send(api.server, { url: '/api/v1/me', headers: { cookie: forged } })).status).toBe(401);

    const state = plant('login state', 'statecanary-9d8c7b6a');
    const code = plant('login code', 'codecanary-1122334455');
    expect((await send(api.server, { url: `/auth/callback?code=${code}&state=${state}` })).status).toBe(400);

    const password = plant('password', 'passwordcanary-77zz');
    const withPassword = { password, enabled: true, nested: { client_secret: password } };
    for (const text of [`{"enabled": ${password}}`, password, `{"enabled": true, ${password}: 1}`]) {
      const broken = { ...operator, 'content-type': 'application/json' };
      const url = '/api/v1/admin/skus/h200-sxm-slice';
      expect((await send(api.server, { method: 'PATCH', url, headers: broken, payload: text })).status).toBe(
        400,
      );
    }
    expect(
      (
        await send(api.server, {
          method: 'PATCH',
          url: '/api/v1/admin/skus/h200-sxm-slice',
          headers: operator,
          payload: withPassword,
        })
      ).status,
    ).toBe(400);
    expect(
      (
        await send(api.server, {
          method: 'PATCH',
          url: '/api/v1/admin/skus/h200-sxm-slice',
          headers: { ...operator, 'content-type': 'application/json' },
          payload: `{"password":"${password}"`,
        })
      ).status,
    ).toBe(400);
    expect(
      (
        await send(api.server, {
          method: 'POST',
          url: '/api/v1/allocations',
          headers: { authorization: `Bearer ${api.people['admin']!.apiKey}` },
          payload: { project_id: password },
        })
      ).status,
    ).toBe(400);

    const enrolment = { hostname: 'canary', region: 'uae-north-1' };
    const key = { ...operator, 'x-idempotency-key': 'canary-enrolment' };
    const made = await send(api.server, {
      method: 'POST',
      url: '/api/v1/admin/node-enrolments',
      headers: key,
      payload: enrolment,
    });
    expect(made.status).toBe(201);
    const token = plant('enrolment token', (JSON.parse(made.body) as { token: string }).token);
    const again = await send(api.server, {
      method: 'POST',
      url: '/api/v1/admin/node-enrolments',
      headers: key,
      payload: enrolment,
    });
    expect(JSON.parse(again.body)).toMatchObject({ token: null, secret_already_shown: true });

    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    plant('private key', pem.split('\n')[1]!);
    const enroll = { token, csr_pem: pem.padEnd(120), hostname: 'canary', agent_version: '1' };
    expect((await send(node, { method: 'POST', url: '/node/v1/enroll', payload: enroll })).status).toBe(422);
    expect(
      (
        await send(node, {
          method: 'POST',
          url: '/node/v1/enroll',
          payload: { ...enroll, hostname: 'other' },
        })
      ).status,
    ).toBe(401);
    const badToken = plant('bad enrolment token', `gpe_${'c'.repeat(43)}.canary`);
    expect(
      (await send(node, { method: 'POST', url: '/node/v1/enroll', payload: { ...enroll, token: badToken } }))
        .status,
    ).toBe(401);

    const ready = await send(api.server, { url: '/readyz' });
    expect(ready.status).toBe(503);
    expect(
      (
        await send(api.server, {
          method: 'POST',
          url: '/auth/logout',
          headers: { cookie, 'x-csrf-token': csrf },
        })
      ).status,
    ).toBe(200);
  });

  it('are thrown as errors in every shape', async () => {
    const { log } = api.services;
    const [token, password, pem] = [
      canaries.get('enrolment token')!,
      canaries.get('password')!,
      canaries.get('private key')!,
    ];
    const block = `-----BEGIN PRIVATE KEY-----\n${pem}\n-----END PRIVATE KEY-----`;
    const request = {
      headers: { authorization: `Bearer ${token}`, cookie: `a=${password}`, 'x-csrf-token': csrf },
      body: { password },
    };
    log.warn(
      { err: Object.assign(new Error(`refused ${token} ${block}`), { code: 'X', request }) },
      `with ${block}`,
    );
    log.info(
      {
        request,
        config: { DATABASE_URL: `postgresql://u:${password}@h/d`, clientSecret: password, apiKey: password },
      },
      'details',
    );
    log.child({ token, sign_in_cookie: password }).info('child');
    log.error(new Error(`bare ${token}`));
    log.info('%s and %o', token, { password });
  });

  it('were in every field that the contract marks', () => {
    const marked = Object.values(contracts).flatMap((contract) =>
      contract.operations.flatMap((operation) => {
        const { request, response } = fieldsOf(contract, operation);
        return [...request, ...response].filter(({ schema }) => schema['x-secret']).map(({ where }) => where);
      }),
    );
    expect(marked.length).toBeGreaterThan(5);
    expect([...new Set(marked)].filter((where) => !seen.has(where))).toEqual(Object.keys(collectedElsewhere));
  });

  it('reach no log line, span, problem, audit row, event, metric or stored answer', async () => {
    await stopTracing();
    expect(collector.spans().length).toBeGreaterThan(20);
    const emitted = {
      logs: lines.join(''),
      problems: refusals.join('\n'),
      spans: collector.text(),
      ...(await storedText()),
      metrics: await metrics(),
    };
    expect(lines.length).toBeGreaterThan(20);
    expect(refusals.length).toBeGreaterThan(12);
    const leaks = Object.entries(emitted).flatMap(([place, text]) =>
      [...canaries]
        .filter(([, secret]) => text.includes(secret))
        .map(([name]) => `${name} in ${place}: ${excerpt(text, canaries.get(name)!)}`),
    );
    expect(leaks).toEqual([]);
  });
});

function excerpt(text: string, secret: string): string {
  const at = text.indexOf(secret);
  return text.slice(Math.max(0, at - 200), at + secret.length + 20);
}

async function metrics(): Promise<string> {
  return (await api.server.inject({ url: '/metrics' })).body;
}

/** The CSRF token is the sign-in's own and stays in it. */
async function storedText(): Promise<Record<string, string>> {
  const { 'public.sign_ins': _signIns, ...text } = await everyRow(api.services.db);
  expect(text['public.audit_logs']).toContain('node.enrolment_create');
  return text;
}
