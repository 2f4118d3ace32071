import { TenantProviders } from '@gpuaas/control-plane/domains/sign-in/tenant-providers';
import { newId } from '@gpuaas/control-plane/platform/ids';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { seedAllocation } from '../../benchmarks/seed-allocation.ts';
import { launchBody } from '../../harness/allocations/allocations.ts';
import { createTestApi, type TestApi } from '../../harness/api.ts';
import { eventually } from '../../harness/eventually.ts';
import { addHost } from '../../harness/fleet/fleet-rows.ts';
import { newTenant, withBearer, type Answer, type Schemas, type TestTenant } from '../../harness/tenancy.ts';

let api: TestApi;
beforeAll(async () => {
  api = await createTestApi();
  await sql`update sku_catalog set enabled = true`.execute(api.services.db);
  await addHost(api.services.db);
});
afterAll(() => api?.stop());

interface NotEmpty {
  code: string;
  resources: Schemas['OwnedResource'][];
}

/** One live resource of every kind in the tenant's project. */
async function fill(tenant: TestTenant): Promise<Record<Kind, string>> {
  const { admin, projectId } = tenant;
  const allocation = await seedAllocation(api.services.db, { ...tenant, email: admin.email });
  const { service_account } = await admin.post<Schemas['ServiceAccountWithToken']>(
    '/api/v1/service-accounts',
    { project_id: projectId, name: 'robot' },
  );
  const { webhook } = await admin.post<Schemas['WebhookWithSecret']>('/api/v1/webhooks', {
    project_id: projectId,
    url: 'https://hooks.example.com/path-secret?key=query-secret',
  });
  await addHost(api.services.db);
  const reservation = await admin.post<Schemas['Reservation']>('/api/v1/reservations', nodeFor(projectId));
  return {
    allocation,
    reservation: reservation.id,
    service_account: service_account.id,
    webhook: webhook.id,
  };
}

type Kind = 'allocation' | 'reservation' | 'service_account' | 'webhook';

const nodeFor = (projectId: string) => ({
  project_id: projectId,
  sku: 'h200-sxm-slice',
  region: 'uae-north-1',
  node_count: 1,
  starts_at: new Date(Date.now() + 3_600_000).toISOString(),
  ends_at: new Date(Date.now() + 7_200_000).toISOString(),
  reason: 'training week',
});

const END: Record<Kind, (tenant: TestTenant, id: string) => Promise<unknown>> = {
  allocation: (_, id) =>
    api.services.db.updateTable('allocations').set({ state: 'released' }).where('id', '=', id).execute(),
  reservation: ({ admin }, id) => admin.ask('POST', `/api/v1/reservations/${id}/cancel`),
  service_account: ({ admin }, id) => admin.ask('DELETE', `/api/v1/service-accounts/${id}`),
  webhook: ({ admin }, id) => admin.ask('DELETE', `/api/v1/webhooks/${id}`),
};

/** Resolves when some statement in this database waits for a lock that `holder` has. */
async function somebodyWaits(holder: number): Promise<void> {
  await eventually('a statement that waits', async () => {
    const { rows } = await sql<{ waiting: boolean }>`select exists (select from pg_stat_activity
      where datname = current_database() and ${holder} = any (pg_blocking_pids(pid))) as waiting`.execute(
      api.services.db,
    );
    return rows[0]!.waiting || null;
  });
}

describe('closing', () => {
  it.each(['project', 'organization'] as const)(
    'of %s: refused while it owns live resources, and says which, until the last is gone',
    async (what) => {
      const tenant = await newTenant(api);
      const url =
        what === 'project'
          ? `/api/v1/projects/${tenant.projectId}`
          : `/api/v1/organizations/${tenant.organizationId}`;
      const left = await fill(tenant);
      for (const [kind, id] of Object.entries(left)) {
        const refusal = await tenant.admin.ask<NotEmpty>('DELETE', url);
        expect(refusal).toMatchObject({ status: 409, body: { code: `${what}_not_empty` } });
        expect(
          Object.fromEntries(refusal.body.resources.map((r) => [r.resource_type, r.resource_id])),
        ).toEqual(left);
        // The address of a webhook may carry a secret in its path or query.
        expect(refusal.text).not.toMatch(/(?:path|query)-secret/);
        expect((await tenant.admin.ask('GET', url)).status).toBe(200);
        await END[kind as Kind](tenant, id);
        delete left[kind as Kind];
      }
      expect((await tenant.admin.ask('DELETE', url)).status).toBe(204);
      const gone = await tenant.admin.ask('GET', url);
      expect(gone.status).toBe(what === 'project' ? 404 : 401);
    },
  );

  it('an organization ends its keys, its invitations and the rights of its people', async () => {
    const tenant = await newTenant(api);
    const home = await newTenant(api, 'guest');
    const invite = async (email: string) =>
      await tenant.admin.post<Schemas['InvitationWithToken']>('/api/v1/invitations', {
        organization_id: tenant.organizationId,
        email,
        permission_group: 'tenant_admin',
      });
    const { token } = await invite(home.admin.email);
    await home.admin.post('/api/v1/invitations/accept', { token });
    const key = await home.admin.post<Schemas['ApiKeyWithSecret']>('/api/v1/api-keys', {
      name: 'ci',
      organization_id: tenant.organizationId,
    });
    const late = await newTenant(api, 'late');
    const pending = await invite(late.admin.email);
    const url = `/api/v1/organizations/${tenant.organizationId}`;
    expect((await tenant.admin.ask('DELETE', url)).status).toBe(204);
    expect((await withBearer(api, key.secret!).ask('GET', '/api/v1/me')).status).toBe(401);
    expect((await home.admin.ask('GET', url)).status).toBe(404);
    expect((await home.admin.get<Schemas['Me']>('/api/v1/me')).organizations.map(({ id }) => id)).toEqual([
      home.organizationId,
    ]);
    expect(
      await late.admin.ask('POST', '/api/v1/invitations/accept', { token: pending.token }),
    ).toMatchObject({ status: 409, body: { code: 'invitation_not_usable' } });
  });
});

describe('a tenant or project that is closed', () => {
  const DOMAIN = 'closing.example';

  async function withProvider(tenant: TestTenant): Promise<string> {
    const provider = await tenant.admin.post<Schemas['IdentityProvider']>('/api/v1/identity-providers', {
      organization_id: tenant.organizationId,
      name: 'Company sign-in',
      issuer: 'https://idp.closing.example',
      client_id: 'c',
      client_secret: 'client-secret',
      newcomers_project_id: tenant.projectId,
    });
    await sql`insert into identity_provider_domains (id, organization_id, identity_provider_id, domain, token, verified_at)
      values (gen_random_uuid(), ${tenant.organizationId}, ${provider.id}, ${DOMAIN}, 't', now())`.execute(
      api.services.db,
    );
    return provider.id;
  }

  it('redirects no one to its identity provider, and releases its domains', async () => {
    const { db, sealer, policies } = api.services;
    const providers = new TenantProviders({ db, sealer, policies, redirectUri: 'https://x.example' });
    const [tenant, next] = [await newTenant(api), await newTenant(api)];
    const id = await withProvider(tenant);
    expect((await providers.byEmail(`a@${DOMAIN}`))?.id).toBe(id);
    const url = `/api/v1/projects/${tenant.projectId}`;
    expect((await tenant.admin.ask('DELETE', url)).status).toBe(204);
    const { newcomers_project_id: newcomers } = await tenant.admin.get<Schemas['IdentityProvider']>(
      `/api/v1/identity-providers/${id}`,
    );
    expect(newcomers).toBeNull();
    const closed = await tenant.admin.ask('DELETE', `/api/v1/organizations/${tenant.organizationId}`);
    expect(closed.status).toBe(204);
    expect(await providers.byEmail(`a@${DOMAIN}`)).toBeNull();
    expect(await providers.tenantOf('https://idp.closing.example', `a@${DOMAIN}`)).toBeNull();
    const following = await withProvider(next);
    expect((await providers.byEmail(`a@${DOMAIN}`))?.id).toBe(following);
  });

  it('is no longer topped up', async () => {
    const { db } = api.services;
    const tenant = await newTenant(api);
    const method = newId();
    await sql`insert into payment_methods (id, organization_id, provider, provider_ref, label, created_at)
      values (${method}, ${tenant.organizationId}, 'test', 'card', 'a card', now())`.execute(db);
    await sql`insert into auto_top_ups (organization_id, enabled, payment_method_id, currency, threshold_micros,
        amount_micros, monthly_cap_micros, updated_at)
      values (${tenant.organizationId}, true, ${method}, 'USD', 5000000, 5000000, 5000000, now())`.execute(
      db,
    );
    expect((await tenant.admin.ask('DELETE', `/api/v1/organizations/${tenant.organizationId}`)).status).toBe(
      204,
    );
    const settings = db.selectFrom('auto_top_ups').select('enabled');
    expect(await settings.where('organization_id', '=', tenant.organizationId).execute()).toEqual([
      { enabled: false },
    ]);
  });
});

describe('a project that is closed while something comes to it', () => {
  const creates: Record<Kind, (tenant: TestTenant) => Promise<Answer>> = {
    allocation: ({ admin, projectId }) => admin.ask('POST', '/api/v1/allocations', launchBody(projectId, 1)),
    reservation: ({ admin, projectId }) => admin.ask('POST', '/api/v1/reservations', nodeFor(projectId)),
    service_account: ({ admin, projectId }) =>
      admin.ask('POST', '/api/v1/service-accounts', { project_id: projectId, name: 'late' }),
    webhook: ({ admin, projectId }) =>
      admin.ask('POST', '/api/v1/webhooks', { project_id: projectId, url: 'https://hooks.example.com/x' }),
  };

  it.each(Object.keys(creates) as Kind[])(
    'answers like a missing one to a new %s that waited',
    async (kind) => {
      const tenant = await newTenant(api);
      const { db } = api.services;
      const creating = await db.transaction().execute(async (tx) => {
        const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(tx);
        await sql`select from projects where id = ${tenant.projectId} for update`.execute(tx);
        const answer = creates[kind](tenant);
        await somebodyWaits(rows[0]!.pid);
        await sql`update projects set deleted_at = now() where id = ${tenant.projectId}`.execute(tx);
        return { answer };
      });
      expect(await creating.answer).toMatchObject({ status: 404, body: { code: 'not_found' } });
      const slots = await sql<{ count: bigint }>`select count(*) from allocation_resource_claims c
      join allocations a on a.id = c.allocation_id where a.project_id = ${tenant.projectId}`.execute(db);
      expect(slots.rows[0]!.count).toBe(0n);
    },
  );

  it('is refused when the allocation came first', async () => {
    const tenant = await newTenant(api);
    const { closing, allocationId } = await api.services.db.transaction().execute(async (tx) => {
      const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(tx);
      const id = await seedAllocation(tx, { ...tenant, email: tenant.admin.email });
      const answer = tenant.admin.ask<NotEmpty>('DELETE', `/api/v1/projects/${tenant.projectId}`);
      await somebodyWaits(rows[0]!.pid);
      return { closing: { answer }, allocationId: id };
    });
    const refusal = await closing.answer;
    expect(refusal).toMatchObject({ status: 409, body: { code: 'project_not_empty' } });
    expect(refusal.body.resources.map((resource) => resource.resource_id)).toEqual([allocationId]);
  });

  it('leaves either the project or the allocation', async () => {
    for (let round = 0; round < 6; round += 1) {
      const tenant = await newTenant(api);
      const [created, closed] = await Promise.all([
        creates.allocation(tenant),
        tenant.admin.ask('DELETE', `/api/v1/projects/${tenant.projectId}`),
      ]);
      expect([
        [202, 409],
        [404, 204],
      ]).toContainEqual([created.status, closed.status]);
    }
  });
});
