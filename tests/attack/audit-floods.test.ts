import { request } from 'node:https';
import { watchAuditGrowth } from '@gpuaas/control-plane/domains/audit/watch-growth';
import { createSignIn } from '@gpuaas/control-plane/platform/auth/sign-ins';
import { newSecret } from '@gpuaas/control-plane/platform/auth/secrets';
import { newId } from '@gpuaas/control-plane/platform/ids';
import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createTestApi, NO_LIMITS, type TestApi } from '../harness/api.ts';
import {
  newSelfSigned,
  startNodePort,
  type NodePort,
  type TestIdentity,
} from '../harness/fleet/node-port.ts';
import { signUp } from '../harness/tenancy.ts';

const ATTEMPTS = 60;
/** As the policy says: rows a minute for one actor or address at one action, and the row that counts the rest. */
const KEPT = 10;

let api: TestApi;
let node: NodePort;
beforeAll(async () => {
  api = await createTestApi();
  node = await startNodePort(api.services);
});
afterAll(async () => {
  await node?.stop();
  await api?.stop();
});

describe('the audit log keeps no row of', () => {
  it('calls that changed nothing: sign-ins that are ended when there is no other', async () => {
    const person = await signUp(api, 'alone');
    const rowsOf = async () =>
      (
        await sql`select 1 from audit_logs where action = 'sign_in.revoke_others'
          and actor_user_id = ${person.userId}`.execute(api.services.db)
      ).rows.length;
    for (let time = 0; time < 5; time += 1)
      expect(await person.post('/api/v1/sign-ins/revoke-others')).toEqual({ revoked: 0 });
    expect(await rowsOf()).toBe(0);
    await api.services.db
      .transaction()
      .execute((tx) =>
        createSignIn(tx, api.services, { userId: person.userId, userAgent: 'other', ip: '127.0.0.1' }),
      );
    expect(await person.post('/api/v1/sign-ins/revoke-others')).toEqual({ revoked: 1 });
    expect(await rowsOf()).toBe(1);
  });
});

describe('the audit log keeps the first attempts of a minute and counts the rest, for', () => {
  it('certificates that nobody issued', async () => {
    const stranger = await newSelfSigned();
    await flood(() => heartbeat(stranger));
    const rows = await denied('node.authenticate');
    expect(rows.length).toBeLessThanOrEqual(KEPT + 1);
    expect(rows.every(({ ip }) => ip !== null)).toBe(true);
  });

  it('sign-ins that nobody began', async () => {
    await flood(() => api.server.inject('/auth/callback?state=x&code=y'));
    const rows = await denied('sign_in.begin');
    expect(rows.every(({ ip }) => ip !== null)).toBe(true);
    expect(counted(rows)).toBe(ATTEMPTS);
  });

  it('mutations that a user may not make', async () => {
    const { apiKey } = api.people['member']!;
    await flood(() => post('/api/v1/teams', apiKey, { organization_id: newId(), name: 'x' }));
    expect(counted(await denied('team.create'))).toBe(ATTEMPTS);
  });

  it('mutations that are refused for what they ask', async () => {
    const { apiKey } = api.people['admin']!;
    await flood(() => post('/api/v1/teams', apiKey, { organization_id: newId(), name: 'x' }));
    const rows = await denied('team.create');
    expect(rows.length).toBeLessThanOrEqual(2 * (KEPT + 1));
    expect(counted(rows)).toBe(2 * ATTEMPTS);
  });

  it('everybody together, whatever addresses they come from', async () => {
    await setPolicy('audit.denials_in_total_per_minute', 5);
    const before = await allRows();
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      await api.services.denials.record({
        actorUserId: null,
        actorKind: 'anonymous',
        actorRole: 'anonymous',
        action: 'sign_in.begin',
        targetType: 'session',
        targetId: 'unknown',
        result: 'denied',
        correlationId: newId(),
        ip: `2001:db8:${attempt.toString(16)}::1`,
      });
    }
    expect((await allRows()) - before).toBeLessThanOrEqual(5);
  });

  it('many addresses, in the rows that count the rest', async () => {
    await setPolicy('audit.denials_in_total_per_minute', 1);
    await api.services.denials.sweep({ all: true });
    const addresses = 1000;
    const before = await allRows();
    const action = 'sign_in.flood';
    for (let attempt = 0; attempt < addresses; attempt += 1) {
      await api.services.denials.record({
        actorUserId: null,
        actorKind: 'anonymous',
        actorRole: 'anonymous',
        action,
        targetType: 'session',
        targetId: 'unknown',
        result: 'denied',
        correlationId: newId(),
        ip: `2001:db8:${attempt.toString(16)}::1`,
      });
    }
    await api.services.denials.sweep({ all: true });
    expect((await allRows()) - before).toBeLessThanOrEqual(101);
    expect(counted([...(await denied(action)), ...(await denied('audit.sum_up'))])).toBe(addresses);
  });
});

describe('limits come before the work', () => {
  it('keys that nobody knows are not looked up once their address has tried too many', async () => {
    const limited = await createTestApi({
      rateLimits: {
        ...NO_LIMITS,
        failed_authentication: { burst: 5, perSecond: 0.001 },
      },
    });
    try {
      const good = limited.people['member']!.apiKey;
      const me = (key: string) =>
        limited.server.inject({
          url: '/api/v1/me',
          headers: { authorization: `Bearer ${key}` },
        });
      expect((await me(good)).statusCode).toBe(200);
      const lookups = countLookups(limited);
      const statuses = [];
      for (let attempt = 0; attempt < ATTEMPTS; attempt += 1)
        statuses.push((await me(newSecret('api_key'))).statusCode);
      expect(statuses.filter((status) => status === 401)).toHaveLength(5);
      expect(statuses.filter((status) => status === 429)).toHaveLength(ATTEMPTS - 5);
      // A key that is not found is looked for among the retired ones as well.
      expect(lookups()).toBeLessThanOrEqual(2 * 5);
      // A neighbour behind the same address whose key is known goes on.
      expect((await me(good)).statusCode).toBe(200);
    } finally {
      await limited.stop();
    }
  });
});

describe('a neighbour behind the same address who tries bad keys', () => {
  const BURST = 5;
  let limited: TestApi;
  let lookups: () => number;
  beforeEach(async () => {
    const failed_authentication = { burst: BURST, perSecond: 1 };
    limited = await createTestApi({
      rateLimits: { ...NO_LIMITS, failed_authentication },
    });
    lookups = countLookups(limited);
  });
  afterEach(() => limited?.stop());
  const ask = async (headers: Record<string, string>): Promise<number> =>
    (await limited.server.inject({ url: '/api/v1/me', headers })).statusCode;
  const tryKey = (key: string) => ask({ authorization: `Bearer ${key}` });

  it('does not lock out new sign-ins with another kind of credential', async () => {
    const statuses = [];
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) statuses.push(await tryKey(newSecret('api_key')));
    expect(statuses).toContain(429);
    // Looked up and refused for what it is.
    expect(await ask({ cookie: 'gpuaas_session=unknown' })).toBe(401);
  });

  it('does not lock out a good key while one bad key is tried again and again', async () => {
    const bad = newSecret('api_key');
    const statuses = [];
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) statuses.push(await tryKey(bad));
    expect(statuses).toContain(429);
    expect(await tryKey(limited.people['member']!.apiKey)).toBe(200);
  });

  it('costs a bounded number of look-ups, of which a good key gets one soon', async () => {
    const began = performance.now();
    for (let attempt = 0; attempt < 3 * ATTEMPTS; attempt += 1) await tryKey(newSecret('api_key'));
    const seconds = (performance.now() - began) / 1000;
    // The burst, five to spare, and six a second; a key that is not found is looked for in two places.
    expect(lookups()).toBeLessThanOrEqual(2 * (BURST + 5 + 6 * seconds));
    await expect
      .poll(() => tryKey(limited.people['member']!.apiKey), {
        timeout: 20_000,
        interval: 200,
      })
      .toBe(200);
  });
});

describe('growth of the audit log', () => {
  it('opens an incident, which closes when it is over', async () => {
    await setPolicy('audit.alarm_rows_per_hour', 1000);
    await sql`insert into audit_logs (id, actor_role, action, target_type, target_id, result, correlation_id, ip)
      select gen_random_uuid(), 'none', 'x.y', 'x', 'x', 'denied', gen_random_uuid(), '192.0.2.1'
      from generate_series(1, 1001)`.execute(api.services.db);
    await watch();
    expect(await incidents()).toMatchObject([{ resolved_at: null }]);
    await setPolicy('audit.alarm_rows_per_hour', 1_000_000);
    await watch();
    expect(await incidents()).toMatchObject([{ resolved_at: expect.any(Date) }]);
  });
});

async function watch(): Promise<void> {
  const now = new Date();
  await watchAuditGrowth.run(api.services, { from: now, to: now });
}

function incidents() {
  return api.services.db
    .selectFrom('incidents')
    .select('resolved_at')
    .where('type', '=', 'audit_log_growing')
    .execute();
}

async function flood(attempt: () => Promise<unknown>): Promise<void> {
  for (let count = 0; count < ATTEMPTS; count += 1) await attempt();
  await api.services.denials.sweep({ all: true });
}

function denied(action: string) {
  return api.services.db
    .selectFrom('audit_logs')
    .select(['ip', 'detail'])
    .where('action', '=', action)
    .where('result', 'in', ['denied', 'refused'])
    .execute();
}

/** Attempts that the rows stand for. */
function counted(rows: { detail: unknown }[]): number {
  const many = rows.map(({ detail }) => (detail as { more_of_the_same?: number }).more_of_the_same ?? 1);
  return many.reduce((sum, count) => sum + count, 0);
}

async function allRows(): Promise<number> {
  const { rows } = await sql<{
    count: number;
  }>`select count(*)::int as count from audit_logs`.execute(api.services.db);
  return rows[0]!.count;
}

function post(url: string, key: string, payload: object) {
  return api.server.inject({
    method: 'POST',
    url,
    headers: { authorization: `Bearer ${key}` },
    payload,
  });
}

function heartbeat({ key, cert }: TestIdentity): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        host: '127.0.0.1',
        port: node.port,
        path: '/node/v1/heartbeat',
        method: 'POST',
        key,
        cert,
        // The attacker does not care who answers.
        rejectUnauthorized: false,
        agent: false,
      },
      (answer) => {
        answer.resume();
        answer.on('end', () => resolve(answer.statusCode ?? 0));
      },
    );
    sent.on('error', reject);
    sent.end('{}');
  });
}

function countLookups({ services }: TestApi): () => number {
  const { identities } = services.database;
  let count = 0;
  const query = identities.query.bind(identities);
  Object.assign(identities, {
    query: (...given: Parameters<typeof query>) => {
      count += 1;
      return query(...given);
    },
  });
  return () => count;
}

async function setPolicy(key: string, value: number): Promise<void> {
  await sql`insert into policy_values (key, value) values (${key}, ${String(value)}::jsonb)
    on conflict (key, organization_id, project_id) do update set value = excluded.value`.execute(
    api.services.db,
  );
  await api.services.policies.refresh();
}
