import { sql } from 'kysely';
import { crc32 } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestApi, type TestApi } from '../../harness/api.ts';
import { eventually } from '../../harness/eventually.ts';
import {
  addPerson,
  newTenant,
  expectSuccess,
  withBearer,
  type Answer,
  type Schemas,
  type TestTenant,
} from '../../harness/tenancy.ts';

let api: TestApi;
beforeAll(async () => {
  api = await createTestApi();
});
afterAll(() => api?.stop());

async function setPolicy(key: string, seconds: number, tenant: TestTenant): Promise<void> {
  await sql`insert into policy_values (key, organization_id, value)
    values (${key}, ${tenant.organizationId}, ${JSON.stringify(seconds)})`.execute(api.services.db);
  await api.services.policies.refresh();
}

const statusOf = async (secret: string): Promise<number> =>
  (await withBearer(api, secret).ask('GET', '/api/v1/me')).status;

const secondsUntil = (time: string): number => (Date.parse(time) - Date.now()) / 1000;

describe('a service account', () => {
  type WithToken = Schemas['ServiceAccountWithToken'];

  async function newAccount(tenant: TestTenant): Promise<{ url: string; token: string; answer: WithToken }> {
    const answer = await tenant.admin.post<WithToken>('/api/v1/service-accounts', {
      project_id: tenant.projectId,
      name: 'robot',
    });
    return { url: `/api/v1/service-accounts/${answer.service_account.id}`, token: answer.token!, answer };
  }

  it('has tokens that live as long as policy says', async () => {
    const tenant = await newTenant(api);
    await setPolicy('auth.service_account_token_ttl_seconds', 120, tenant);
    const { answer, token } = await newAccount(tenant);
    const left = secondsUntil(answer.service_account.tokens[0]!.expires_at);
    expect(left).toBeGreaterThan(60);
    expect(left).toBeLessThanOrEqual(120);
    expect(await statusOf(token)).toBe(200);
    await sql`update service_account_tokens set expires_at = now() where service_account_id =
      ${answer.service_account.id}`.execute(api.services.db);
    expect(await statusOf(token)).toBe(401);
  });

  it('rotates with an overlap in which both tokens work', async () => {
    const tenant = await newTenant(api);
    await setPolicy('auth.service_account_token_overlap_seconds', 30, tenant);
    const { url, token } = await newAccount(tenant);
    // Rotated with the token that is about to expire.
    const rotated = await withBearer(api, token).post<WithToken>(`${url}/rotate-token`);
    const [next, former] = rotated.service_account.tokens;
    expect(secondsUntil(former!.expires_at)).toBeLessThanOrEqual(30);
    expect(secondsUntil(next!.expires_at)).toBeGreaterThan(30);
    expect([await statusOf(token), await statusOf(rotated.token!)]).toEqual([200, 200]);
    await sql`update service_account_tokens set expires_at = now() where id = ${former!.id}`.execute(
      api.services.db,
    );
    expect([await statusOf(token), await statusOf(rotated.token!)]).toEqual([401, 200]);
  });

  it('shows a token once, also when the request is repeated', async () => {
    const tenant = await newTenant(api);
    const { url } = await newAccount(tenant);
    const key = { 'x-idempotency-key': crypto.randomUUID() };
    const first = await tenant.admin.ask<WithToken>('POST', `${url}/rotate-token`, undefined, key);
    const again = await tenant.admin.ask<WithToken>('POST', `${url}/rotate-token`, undefined, key);
    expect(expectSuccess(first).token).toMatch(/^gps_/);
    expect(again).toMatchObject({ status: 200, body: { token: null, secret_already_shown: true } });
  });

  it('is out at the next request when disabled, when a token is revoked, and when deleted', async () => {
    const tenant = await newTenant(api);
    const { url, token, answer } = await newAccount(tenant);
    await tenant.admin.post(`${url}/disable`);
    expect(await statusOf(token)).toBe(401);
    expect(await tenant.admin.ask('POST', `${url}/rotate-token`)).toMatchObject({
      status: 409,
      body: { code: 'service_account_disabled' },
    });
    await tenant.admin.post(`${url}/enable`);
    expect(await statusOf(token)).toBe(200);
    const second = (await tenant.admin.post<WithToken>(`${url}/rotate-token`)).token!;
    const revoke = `${url}/tokens/${answer.service_account.tokens[0]!.id}`;
    expect((await tenant.admin.ask('DELETE', revoke)).status).toBe(204);
    expect((await tenant.admin.ask('DELETE', revoke)).status).toBe(404);
    expect([await statusOf(token), await statusOf(second)]).toEqual([401, 200]);
    expect((await tenant.admin.ask('DELETE', url)).status).toBe(204);
    expect(await statusOf(second)).toBe(401);
    expect((await tenant.admin.ask('GET', url)).status).toBe(404);
  });
});

describe('an API key', () => {
  type WithSecret = Schemas['ApiKeyWithSecret'];

  const make = (tenant: TestTenant, more: object = {}, headers = {}): Promise<Answer<WithSecret>> =>
    tenant.admin.ask(
      'POST',
      '/api/v1/api-keys',
      { name: 'ci', organization_id: tenant.organizationId, ...more },
      headers,
    );

  it('ends in a checksum, and is refused without a lookup when that is wrong', async () => {
    const tenant = await newTenant(api);
    const { secret } = expectSuccess(await make(tenant));
    const [, random, checksum] = /^gpk_([\w-]{43})_([0-9a-f]{8})$/.exec(secret!)!;
    expect(checksum).toBe(crc32(random!).toString(16).padStart(8, '0'));
    expect(await statusOf(secret!)).toBe(200);
    const wrong = `${secret!.slice(0, -1)}${secret!.endsWith('0') ? '1' : '0'}`;
    expect(await statusOf(wrong)).toBe(401);
    const { rows } = await sql<{ key: string }>`select to_jsonb(k)::text as key from api_keys k
      where prefix = ${secret!.slice(0, 12)}`.execute(api.services.db);
    expect(rows[0]!.key).not.toContain(random);
  });

  it('is shown once, also when the request is repeated', async () => {
    const tenant = await newTenant(api);
    const headers = { 'x-idempotency-key': crypto.randomUUID() };
    const first = expectSuccess(await make(tenant, {}, headers));
    const again = await make(tenant, {}, headers);
    expect(again).toMatchObject({ status: 201, body: { secret: null, secret_already_shown: true } });
    expect(again.body.api_key.id).toBe(first.api_key.id);
  });

  it('lives no longer than policy allows', async () => {
    const tenant = await newTenant(api);
    await setPolicy('auth.api_key_max_lifetime_seconds', 3600, tenant);
    const unsaid = expectSuccess(await make(tenant));
    expect(secondsUntil(unsaid.api_key.expires_at!)).toBeLessThanOrEqual(3600);
    const at = (seconds: number) => ({ expires_at: new Date(Date.now() + seconds * 1000).toISOString() });
    for (const seconds of [7200, -60]) {
      expect(await make(tenant, at(seconds))).toMatchObject({
        body: { code: 'api_key_lifetime_refused', errors: [{ pointer: '/expires_at' }] },
      });
    }
    const short = expectSuccess(await make(tenant, at(1800)));
    await sql`update api_keys set expires_at = now() where id = ${short.api_key.id}`.execute(api.services.db);
    expect(await statusOf(short.secret!)).toBe(401);
    expect(await tenant.admin.get<Schemas['ApiKey']>(`/api/v1/api-keys/${short.api_key.id}`)).toMatchObject({
      state: 'expired',
    });
  });

  it('records its last use, at most once a minute', async () => {
    const tenant = await newTenant(api);
    const { api_key, secret } = expectSuccess(await make(tenant));
    const lastUse = async () => {
      const { rows } = await sql<{ at: Date | null; version: string }>`select last_used_at as at,
        xmin::text as version from api_keys where id = ${api_key.id}`.execute(api.services.db);
      return rows[0]!;
    };
    expect((await lastUse()).at).toBeNull();
    await statusOf(secret!);
    // The answer does not wait for it.
    const used = await eventually('the use to be noted', async () => {
      const row = await lastUse();
      return row.at === null ? null : row;
    });
    await Promise.all(Array.from({ length: 20 }, () => statusOf(secret!)));
    expect((await lastUse()).version).toBe(used.version);
    await sql`update api_keys set last_used_at = now() - interval '2 minutes' where id = ${api_key.id}`.execute(
      api.services.db,
    );
    const aged = await lastUse();
    await Promise.all(Array.from({ length: 20 }, () => statusOf(secret!)));
    const noted = await eventually('the next use to be noted', async () => {
      const row = await lastUse();
      return row.version === aged.version ? null : row;
    });
    expect(noted.at!.getTime()).toBeGreaterThanOrEqual(used.at!.getTime());
    await Promise.all(Array.from({ length: 20 }, () => statusOf(secret!)));
    expect((await lastUse()).version).toBe(noted.version);
  });

  it('is out at the next request when its owner or an admin revokes it', async () => {
    const tenant = await newTenant(api);
    const member = await addPerson(api, tenant, 'member', 'regular_user', tenant.projectId);
    const other = await addPerson(api, tenant, 'other', 'regular_user', tenant.projectId);
    const keys = [];
    for (let n = 0; n < 2; n += 1) {
      keys.push(
        await member.post<WithSecret>('/api/v1/api-keys', {
          name: 'mine',
          organization_id: tenant.organizationId,
        }),
      );
    }
    const [first, second] = keys;
    const url = (key: WithSecret | undefined) => `/api/v1/api-keys/${key!.api_key.id}`;
    expect([403, 404]).toContain((await other.ask('DELETE', url(first))).status);
    expect((await member.ask('DELETE', url(first))).status).toBe(204);
    expect((await tenant.admin.ask('DELETE', url(second))).status).toBe(204);
    expect([await statusOf(first!.secret!), await statusOf(second!.secret!)]).toEqual([401, 401]);
    expect(await tenant.admin.get<Schemas['ApiKey']>(url(first))).toMatchObject({ state: 'revoked' });
  });
});

describe('an SSH key', () => {
  const KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIPKGY7dlGR3Gkeag9vQi5MhDW6TGZlOMPhDPiaLTTKPJ';

  it('exists once per owner and once per project, and is invisible to others', async () => {
    const tenant = await newTenant(api);
    const member = await addPerson(api, tenant, 'member', 'regular_user', tenant.projectId);
    const body = { name: 'laptop', public_key: `${KEY} me@laptop` };
    const own = await member.post<Schemas['SshKey']>('/api/v1/ssh-keys', body);
    expect(own.fingerprint).toMatch(/^SHA256:/);
    expect(await member.ask('POST', '/api/v1/ssh-keys', { ...body, public_key: KEY })).toMatchObject({
      status: 409,
      body: { code: 'ssh_key_exists', fingerprint: own.fingerprint },
    });
    // Two people may share a machine.
    expect((await tenant.admin.ask('POST', '/api/v1/ssh-keys', body)).status).toBe(201);
    const forProject = { ...body, project_id: tenant.projectId };
    expect((await member.ask('POST', '/api/v1/ssh-keys', forProject)).status).toBe(403);
    const shared = await tenant.admin.post<Schemas['SshKey']>('/api/v1/ssh-keys', forProject);
    expect((await tenant.admin.ask('POST', '/api/v1/ssh-keys', forProject)).status).toBe(409);
    const list = async (query: string) =>
      (await member.get<{ items: Schemas['SshKey'][] }>(`/api/v1/ssh-keys${query}`)).items.map(
        ({ id }) => id,
      );
    expect(await list('')).toEqual([own.id]);
    expect(await list(`?project_id=${tenant.projectId}`)).toEqual([shared.id]);
    expect((await tenant.admin.ask('GET', `/api/v1/ssh-keys/${own.id}`)).status).toBe(404);
    expect((await tenant.admin.ask('DELETE', `/api/v1/ssh-keys/${own.id}`)).status).toBe(404);
    expect((await member.ask('DELETE', `/api/v1/ssh-keys/${shared.id}`)).status).toBe(403);
    expect((await member.ask('DELETE', `/api/v1/ssh-keys/${own.id}`)).status).toBe(204);
    expect(await list('')).toEqual([]);
    expect((await member.ask('POST', '/api/v1/ssh-keys', body)).status).toBe(201);
  });
});
