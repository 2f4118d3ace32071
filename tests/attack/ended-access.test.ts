import { notifyPeople } from '@gpuaas/control-plane/domains/notifications/notify-people';
import { warnBeforeRotationEnd } from '@gpuaas/control-plane/domains/tenancy/service-accounts/warn-before-rotation-end';
import { servicesAsRole } from '@gpuaas/control-plane/platform/db/scope';
import type { Services } from '@gpuaas/control-plane/platform/services';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestApi, TEST_PUBLIC_URL, type TestApi } from '../harness/api.ts';
import { lastEvent } from '../harness/last-event.ts';
import {
  addPerson,
  newTenant,
  withBearer,
  type Schemas,
  type TestCaller,
  type TestPerson,
  type TestTenant,
} from '../harness/tenancy.ts';

type WithToken = Schemas['ServiceAccountWithToken'];
type Member = TestPerson & { memberId: string };

let api: TestApi;
let worker: Services;
beforeAll(async () => {
  api = await createTestApi();
  worker = servicesAsRole(api.services, 'gpuaas_worker');
});
afterAll(() => api?.stop());

const statusOf = async (token: string): Promise<number> =>
  (await withBearer(api, token).ask('GET', '/api/v1/me')).status;

const rotateUrl = (id: string): string => `/api/v1/service-accounts/${id}/rotate-token`;

async function makeAccount(maker: TestCaller, tenant: TestTenant, name: string) {
  const body = { project_id: tenant.projectId, name };
  const { service_account: account, token } = await maker.post<WithToken>('/api/v1/service-accounts', body);
  return { id: account.id, token: token! };
}

/** Gives a service account a group in the project. */
async function bind(tenant: TestTenant, accountId: string, group: string): Promise<void> {
  await tenant.admin.post('/api/v1/permission-bindings', {
    organization_id: tenant.organizationId,
    project_id: tenant.projectId,
    permission_group: group,
    holder: { type: 'service_account', id: accountId },
  });
}

async function inboxOf(person: TestCaller): Promise<string[]> {
  const { items } = await person.get<{ items: Schemas['Notification'][] }>('/api/v1/notifications');
  return items.map(({ title }) => title);
}

const notify = async (type: Parameters<typeof lastEvent>[1], subjectId: string): Promise<void> =>
  notifyPeople(worker, { publicUrl: TEST_PUBLIC_URL }).handle(
    await lastEvent(api.services.db, type, subjectId),
  );

describe('somebody whose access ends', () => {
  const ways: Record<string, (tenant: TestTenant, maker: Member) => Promise<unknown>> = {
    'is disabled': (tenant, maker) => tenant.admin.post(`/api/v1/members/${maker.memberId}/disable`),
    'is removed': (tenant, maker) => tenant.admin.ask('DELETE', `/api/v1/members/${maker.memberId}`),
    leaves: (tenant, maker) => maker.post(`/api/v1/organizations/${tenant.organizationId}/leave`),
  };

  it.each(Object.keys(ways))('and %s takes no token of a service account along', async (way) => {
    const tenant = await newTenant(api);
    const maker = await addPerson(api, tenant, 'maker', 'project_admin', tenant.projectId);
    const own = await makeAccount(maker, tenant, 'own');
    // One that the maker renewed with its own token, and one that a service account of the maker made.
    const renewed = await makeAccount(maker, tenant, 'renewed');
    const second = await withBearer(api, renewed.token).post<WithToken>(rotateUrl(renewed.id));
    await bind(tenant, own.id, 'project_admin');
    const made = await makeAccount(withBearer(api, own.token), tenant, 'made by an account');
    // One of the admin, of which the maker took a token; and one that has nothing to do with the maker.
    const taken = await makeAccount(tenant.admin, tenant, 'of the admin');
    const takenToken = (await maker.post<WithToken>(rotateUrl(taken.id))).token!;
    const other = await makeAccount(tenant.admin, tenant, 'untouched');
    const tokens = [own.token, renewed.token, second.token!, made.token, takenToken];
    expect(await Promise.all(tokens.map(statusOf))).toEqual(tokens.map(() => 200));

    const preview = await tenant.admin.get<Schemas['HandoverPreview']>(
      `/api/v1/members/${maker.memberId}/handover`,
    );
    expect(preview.service_account_tokens).toBe(5);
    await ways[way]!(tenant, maker);

    expect(await Promise.all(tokens.map(statusOf))).toEqual(tokens.map(() => 401));
    expect(await statusOf(other.token)).toBe(200);
    // The account is there, and the project's people are asked to give it a token.
    expect((await tenant.admin.post<WithToken>(rotateUrl(own.id))).token).toMatch(/^gps_/);
    await notify('service_account.tokens_revoked', own.id);
    expect(await inboxOf(tenant.admin)).toContainEqual(expect.stringContaining('Tokens of own were revoked'));
  });
});

describe('a service account that renews its own token', () => {
  const later = async (accountId: string, days: number): Promise<void> => {
    await sql`update service_account_tokens set issued_at = issued_at - make_interval(days => ${days})
      where service_account_id = ${accountId}`.execute(api.services.db);
  };

  it('does so until a policy says that a person must issue one', async () => {
    const tenant = await newTenant(api);
    const account = await makeAccount(tenant.admin, tenant, 'robot');
    await later(account.id, 29);
    const { token } = await withBearer(api, account.token).post<WithToken>(rotateUrl(account.id));
    await later(account.id, 1);
    expect(await withBearer(api, token!).ask('POST', rotateUrl(account.id))).toMatchObject({
      status: 403,
      body: { code: 'rotation_needs_person' },
    });
    const byPerson = (await tenant.admin.post<WithToken>(rotateUrl(account.id))).token!;
    expect((await withBearer(api, byPerson).ask('POST', rotateUrl(account.id))).status).toBe(200);
  });

  it('gets no token that outlives that age', async () => {
    const tenant = await newTenant(api);
    const account = await makeAccount(tenant.admin, tenant, 'robot');
    await sql`update service_account_tokens set issued_at = now() - interval '30 days' + interval '2 minutes'
      where service_account_id = ${account.id}`.execute(api.services.db);
    const answer = await withBearer(api, account.token).post<WithToken>(rotateUrl(account.id));
    const [newest] = answer.service_account.tokens;
    expect(Date.parse(newest!.expires_at)).toBeLessThanOrEqual(Date.now() + 120_000);
  });

  it('finds no way around it with another service account', async () => {
    const tenant = await newTenant(api);
    const [a, b] = [
      await makeAccount(tenant.admin, tenant, 'a'),
      await makeAccount(tenant.admin, tenant, 'b'),
    ];
    for (const { id } of [a, b]) await bind(tenant, id, 'project_admin');
    await later(a.id, 30);
    const asA = withBearer(api, a.token);
    expect((await asA.ask('POST', rotateUrl(b.id))).body).toMatchObject({ code: 'rotation_needs_person' });
    const body = { project_id: tenant.projectId, name: 'c' };
    expect((await asA.ask('POST', '/api/v1/service-accounts', body)).body).toMatchObject({
      code: 'rotation_needs_person',
    });
  });

  it('has its people warned before, once', async () => {
    const tenant = await newTenant(api);
    const account = await makeAccount(tenant.admin, tenant, 'nightly');
    const warn = () => warnBeforeRotationEnd.run(worker, { from: new Date(0), to: new Date() });
    const warnings = async (): Promise<number> => {
      const { rows } = await sql`select from outbox_events where event_type = 'service_account.rotation_due'
        and subject_id = ${account.id}`.execute(api.services.db);
      return rows.length;
    };
    await warn();
    expect(await warnings()).toBe(0);
    await later(account.id, 28);
    await warn();
    await withBearer(api, account.token).post(rotateUrl(account.id));
    await warn();
    expect(await warnings()).toBe(1);
    await notify('service_account.rotation_due', account.id);
    expect(await inboxOf(tenant.admin)).toContainEqual(
      expect.stringContaining('nightly needs a new token by'),
    );
    // A token that a person issues begins the time again.
    await tenant.admin.post(rotateUrl(account.id));
    await warn();
    expect(await warnings()).toBe(1);
  });
});
