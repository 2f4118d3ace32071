import { startMeter } from '@gpuaas/control-plane/domains/billing/metering/start-meter';
import { verifyQuotas } from '@gpuaas/control-plane/domains/quotas/verify-quotas';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { launchBody, type Allocation } from '../harness/allocations/allocations.ts';
import { createTestApi, type TestApi } from '../harness/api.ts';
import { addHost } from '../harness/fleet/fleet-rows.ts';
import {
  addPerson,
  newTenant,
  signUp,
  withBearer,
  type Schemas,
  type TestCaller,
  type TestTenant,
} from '../harness/tenancy.ts';

/** Attempts to get more than was paid for. */
let api: TestApi;
let operator: TestCaller;
beforeAll(async () => {
  api = await createTestApi();
  operator = withBearer(api, api.people['operator']!.apiKey);
  await sql`update sku_catalog set enabled = true`.execute(api.services.db);
});
afterAll(() => api?.stop());
beforeEach(async () => {
  await sql`update nodes set draining = true`.execute(api.services.db);
});

const GPU_HOUR = 2_990_000;

const launch = (caller: TestCaller, projectId: string, gpus = 1, more: object = {}) =>
  caller.ask<Allocation & { code?: string }>('POST', '/api/v1/allocations', {
    ...launchBody(projectId, gpus),
    ...more,
  });

const balanceOf = async ({ admin, organizationId }: TestTenant): Promise<number> => {
  const { balances } = await admin.get<Schemas['Balance']>(
    `/api/v1/billing/balance?organization_id=${organizationId}`,
  );
  return balances[0]?.micros ?? 0;
};

/** Leaves the tenant with exactly so much. */
async function setBalance(tenant: TestTenant, micros: number): Promise<void> {
  await operator.post(`/api/v1/admin/tenants/${tenant.organizationId}/ledger-adjustments`, {
    kind: 'adjustment',
    amount: { currency: 'USD', micros: micros - (await balanceOf(tenant)) },
    reason: 'For the test',
  });
}

/** The machine answers: the lease runs and its meter with it. */
async function activate(allocationId: string): Promise<void> {
  await api.services.db.transaction().execute(async (tx) => {
    const row = await tx
      .updateTable('allocations')
      .set({ state: 'active', active_at: new Date() })
      .where('id', '=', allocationId)
      .returningAll()
      .executeTakeFirstOrThrow();
    await startMeter(tx, row);
  });
}

describe('money for one GPU hour', () => {
  it('rents one GPU, also when each launch waits until the one before it runs', async () => {
    await addHost(api.services.db);
    const tenant = await newTenant(api);
    await setBalance(tenant, 3_490_000);
    const answers = [];
    for (let time = 0; time < 3; time += 1) {
      const answer = await launch(tenant.admin, tenant.projectId);
      answers.push(answer);
      if (answer.status === 202) await activate(answer.body.id);
    }
    expect(answers.map(({ status }) => status)).toEqual([202, 409, 409]);
    const { available, ...refused } = answers[1]!.body as unknown as Record<string, { micros: number }>;
    expect(refused).toMatchObject({
      code: 'balance_too_low',
      required: { micros: GPU_HOUR },
      kept_for_running_leases: { micros: GPU_HOUR },
      kept_for_launches_on_their_way: { micros: 0 },
      kept_for_reservations: { micros: 0 },
    });
    // Some milliseconds of the lease have accrued.
    expect(available!.micros).toBeGreaterThan(3_400_000);
    await setBalance(tenant, 2 * GPU_HOUR + 100_000);
    expect((await launch(tenant.admin, tenant.projectId)).status).toBe(202);
  });

  it('rents no more when launches come together while another lease runs', async () => {
    await addHost(api.services.db);
    const tenant = await newTenant(api);
    // Counters exist after the first launch, so that the others can be sold in one statement.
    const first = await launch(tenant.admin, tenant.projectId);
    await activate(first.body.id);
    await setBalance(tenant, 3 * GPU_HOUR + 400_000);
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => launch(tenant.admin, tenant.projectId)),
    );
    expect(answers.filter(({ status }) => status === 202)).toHaveLength(2);
    expect(new Set(answers.filter(({ status }) => status !== 202).map(({ body }) => body.code))).toEqual(
      new Set(['balance_too_low']),
    );
  });
});

describe('two refunds of one tenant at the same time', () => {
  it('do not both find the same balance', async () => {
    const record = (tenant: TestTenant, reference: string) =>
      operator.post<{ id: string }>(`/api/v1/admin/tenants/${tenant.organizationId}/payments`, {
        amount: { currency: 'USD', micros: 50_000_000 },
        reference,
        note: 'Wire transfer',
      });
    for (let round = 0; round < 5; round += 1) {
      const tenant = await newTenant(api);
      const paid = await Promise.all([record(tenant, `A-${round}`), record(tenant, `B-${round}`)]);
      await setBalance(tenant, 50_000_000);
      const answers = await Promise.all(
        paid.map(({ id }) =>
          operator.ask('POST', `/api/v1/admin/payments/${id}/refunds`, {
            amount: { currency: 'USD', micros: 50_000_000 },
            reason: 'For the test',
          }),
        ),
      );
      expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([202, 409]);
      expect(await balanceOf(tenant)).toBe(0);
    }
  });
});

describe('service accounts of a person with a quota and a budget', () => {
  interface Made {
    service_account: { id: string };
    token: string;
  }

  async function newAccount(maker: TestCaller, tenant: TestTenant, name: string) {
    const made = await maker.post<Made>('/api/v1/service-accounts', {
      project_id: tenant.projectId,
      name,
    });
    await tenant.admin.post('/api/v1/permission-bindings', {
      organization_id: tenant.organizationId,
      project_id: tenant.projectId,
      permission_group: 'project_admin',
      holder: { type: 'service_account', id: made.service_account.id },
    });
    return { id: made.service_account.id, caller: withBearer(api, made.token) };
  }

  const limit = (tenant: TestTenant, userId: string, value: number) =>
    tenant.admin.ask('PUT', `/api/v1/organizations/${tenant.organizationId}/quotas`, {
      holder: { type: 'user', id: userId },
      measure: 'allocations',
      limit: value,
    });

  async function usedBy(tenant: TestTenant, holderId: string): Promise<number> {
    const { items } = await tenant.admin.get<{ items: Schemas['Quota'][] }>(
      `/api/v1/organizations/${tenant.organizationId}/quotas?holder_id=${holderId}`,
    );
    return items.find(({ measure }) => measure === 'allocations')!.used;
  }

  it('count for that person through any account: individually, in a batch or from the queue', async () => {
    await addHost(api.services.db);
    const tenant = await newTenant(api);
    const person = await addPerson(api, tenant, 'maker', 'project_admin', tenant.projectId);
    expect((await limit(tenant, person.userId, 2)).status).toBe(200);
    const one = await newAccount(person, tenant, 'one');
    const two = await newAccount(person, tenant, 'two');
    const three = await newAccount(one.caller, tenant, 'made-by-an-account');
    const own = await launch(person, tenant.projectId);
    expect(own.status).toBe(202);
    const answers = await Promise.all(
      [one, two, three].map(({ caller }) => launch(caller, tenant.projectId)),
    );
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([202, 409, 409]);
    const [refused] = answers.filter(({ status }) => status === 409);
    expect(refused!.body).toMatchObject({
      code: 'quota_exceeded',
      exceeded: [{ holder: { type: 'user', id: person.userId }, limit: 2, used: 2 }],
    });
    expect(await usedBy(tenant, person.userId)).toBe(2);
    expect(await verifyQuotas(api.services.db, 10)).toEqual([]);
  });

  it('count for the new owner after a hand-over, and for nobody between owners', async () => {
    await addHost(api.services.db);
    const tenant = await newTenant(api);
    const person = await addPerson(api, tenant, 'leaver', 'project_admin', tenant.projectId);
    const heir = await addPerson(api, tenant, 'heir', 'project_admin', tenant.projectId);
    const account = await newAccount(person, tenant, 'stays');
    expect((await launch(account.caller, tenant.projectId, 2)).status).toBe(202);
    expect([await usedBy(tenant, person.userId), await usedBy(tenant, account.id)]).toEqual([1, 1]);
    await tenant.admin.post(`/api/v1/members/${person.memberId}/disable`);
    expect(await verifyQuotas(api.services.db, 10)).toEqual([]);
    // What it runs would count for somebody who did not ask for it.
    const pushed = await heir.ask('PATCH', `/api/v1/service-accounts/${account.id}`, {
      owner_user_id: tenant.admin.userId,
    });
    expect(pushed.body).toMatchObject({ code: 'forbidden', permission: 'quota.manage' });
    const given = await tenant.admin.ask('PATCH', `/api/v1/service-accounts/${account.id}`, {
      owner_user_id: heir.userId,
    });
    expect(given.status, given.text).toBe(200);
    expect([await usedBy(tenant, heir.userId), await usedBy(tenant, account.id)]).toEqual([1, 1]);
    expect(await verifyQuotas(api.services.db, 10)).toEqual([]);
    expect((await limit(tenant, heir.userId, 1)).status).toBe(200);
    expect((await launch(heir, tenant.projectId)).body.code).toBe('quota_exceeded');
  });

  it('do not launch when the budget of that person is used up', async () => {
    await addHost(api.services.db);
    const tenant = await newTenant(api);
    const person = await addPerson(api, tenant, 'thrifty', 'project_admin', tenant.projectId);
    const account = await newAccount(person, tenant, 'spender');
    const set = await tenant.admin.ask('PUT', '/api/v1/billing/budgets', {
      organization_id: tenant.organizationId,
      scope_type: 'user',
      scope_id: person.userId,
      monthly: { currency: 'USD', micros: 10_000 },
      thresholds: [50],
      at_cap: 'refuse',
    });
    expect(set.status, set.text).toBeLessThan(300);
    const first = await launch(account.caller, tenant.projectId);
    expect(first.status).toBe(202);
    await activate(first.body.id);
    await sql`update allocation_meters set started_at = now() - interval '1 minute'
      where allocation_id = ${first.body.id}`.execute(api.services.db);
    expect((await launch(account.caller, tenant.projectId)).body.code).toBe('budget_exceeded');
    expect((await launch(person, tenant.projectId)).body.code).toBe('budget_exceeded');
  });
});

describe('a tenant that never paid', () => {
  it('reserves nothing', async () => {
    await addHost(api.services.db);
    await addHost(api.services.db);
    const person = await signUp(api, 'stranger');
    const me = await person.get<Schemas['Me']>('/api/v1/me');
    const answer = await person.ask('POST', '/api/v1/reservations', {
      project_id: me.organizations[0]!.projects[0]!.id,
      sku: 'h200-sxm-slice',
      region: 'uae-north-1',
      node_count: 2,
      starts_at: new Date().toISOString(),
      ends_at: new Date(Date.now() + 29 * 86_400_000).toISOString(),
      reason: 'all of it',
    });
    expect(answer.body).toMatchObject({ code: 'reservation_unpaid' });
  });
});
