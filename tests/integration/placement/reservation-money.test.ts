import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import { checkReservations } from '@gpuaas/control-plane/domains/allocations/reservations/lapse-reservations';
import { covers, keptBeside } from '@gpuaas/control-plane/domains/billing/funds/covers';
import { readCommitments, storedLaunch } from '@gpuaas/control-plane/domains/billing/funds/commitments';
import { runQueue } from '@gpuaas/control-plane/domains/allocations/queue/run-queue';
import type { Clock } from '@gpuaas/control-plane/platform/clock';
import { servicesAsRole } from '@gpuaas/control-plane/platform/db/scope';
import type { PlatformServices } from '@gpuaas/control-plane/roles/domain-answers';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { launchBody, type Allocation } from '../../harness/allocations/allocations.ts';
import { createTestApi, type TestApi } from '../../harness/api.ts';
import { addHost } from '../../harness/fleet/fleet-rows.ts';
import {
  newTenant,
  withBearer,
  type Schemas,
  type TestCaller,
  type TestTenant,
} from '../../harness/tenancy.ts';

type Reservation = components['schemas']['Reservation'];

const HOUR = 3_600_000;
const GPU_HOUR = 2_990_000;
const NODE_HOUR = 8 * GPU_HOUR;
/** Of one node, by the policies as they come. */
const HOLD = 4 * NODE_HOUR;

let api: TestApi;
let operator: TestCaller;
let worker: PlatformServices;
let clock: ReturnType<typeof runningClock>;

beforeAll(async () => {
  api = await createTestApi();
  operator = withBearer(api, api.people['operator']!.apiKey);
  await sql`update sku_catalog set enabled = true`.execute(api.services.db);
});
afterAll(() => api?.stop());
beforeEach(async () => {
  const { db } = api.services;
  await sql`update nodes set draining = true`.execute(db);
  await sql`delete from node_promises`.execute(db);
  await sql`update capacity_reservations set cancelled_at = least(now(), starts_at)`.execute(db);
  clock = runningClock();
  worker = { ...servicesAsRole(api.services, 'gpuaas_worker'), clock };
});

const body = (tenant: TestTenant, more: object = {}) => ({
  project_id: tenant.projectId,
  sku: 'h200-sxm-slice',
  region: 'uae-north-1',
  node_count: 1,
  starts_at: new Date(Date.now() - 1000).toISOString(),
  ends_at: new Date(Date.now() + 48 * HOUR).toISOString(),
  reason: 'training week',
  ...more,
});
const reserve = (tenant: TestTenant, more: object = {}) =>
  tenant.admin.ask<Reservation & { code?: string; detail?: string }>(
    'POST',
    '/api/v1/reservations',
    body(tenant, more),
  );
const launch = (tenant: TestTenant, gpus: number, more: object = {}) =>
  tenant.admin.ask<Allocation & { code?: string }>('POST', '/api/v1/allocations', {
    ...launchBody(tenant.projectId, gpus),
    ...more,
  });
const spendOf = async (tenant: TestTenant): Promise<Schemas['Spend']> =>
  (
    await tenant.admin.get<{ spend: Schemas['Spend'][] }>(
      `/api/v1/billing/spend?organization_id=${tenant.organizationId}`,
    )
  ).spend[0]!;

async function setBalance(tenant: TestTenant, micros: number): Promise<void> {
  const now = (await spendOf(tenant)).balance.micros;
  await operator.post(`/api/v1/admin/tenants/${tenant.organizationId}/ledger-adjustments`, {
    kind: 'adjustment',
    amount: { currency: 'USD', micros: micros - now },
    reason: 'For the test',
  });
}

async function setPolicy(key: string, value: unknown, tenant?: TestTenant): Promise<void> {
  const scope = tenant ? `?organization_id=${tenant.organizationId}` : '';
  const set = await operator.ask('PUT', `/api/v1/admin/policies/${key}${scope}`, { value });
  expect(set.status, set.text).toBe(200);
  await api.services.policies.refresh();
}

const show = async (tenant: TestTenant, id: string): Promise<Reservation> => {
  const { items } = await tenant.admin.get<{ items: Reservation[] }>(
    `/api/v1/reservations?project_id=${tenant.projectId}`,
  );
  return items.find((one) => one.id === id)!;
};

/** Runs like the clock of the API, which it must never lag behind, and can be set ahead. */
function runningClock(): Clock & { advance(ms: number): void } {
  let aheadMs = 0;
  return {
    now: () => new Date(Date.now() + aheadMs),
    advance: (ms) => {
      aheadMs += ms;
    },
  };
}

describe('the money of a reservation', () => {
  it('must be there for the time that policy asks, and nothing else may spend it', async () => {
    await addHost(api.services.db);
    await addHost(api.services.db);
    const tenant = await newTenant(api);
    const paid = await operator.post<{ id: string }>(
      `/api/v1/admin/tenants/${tenant.organizationId}/payments`,
      { amount: { currency: 'USD', micros: 50_000_000 }, reference: 'HOLD-1', note: 'Wire transfer' },
    );
    await setBalance(tenant, HOLD - 1);
    const refused = await reserve(tenant);
    expect(refused.body).toMatchObject({
      code: 'balance_too_low',
      required: { micros: HOLD },
      available: { micros: HOLD - 1 },
      kept_for_reservations: { micros: 0 },
    });
    expect(refused.body.detail).toContain('$95.68');
    await setBalance(tenant, HOLD);
    const made = await reserve(tenant);
    expect(made.status, made.text).toBe(201);
    expect(made.body).toMatchObject({ gpu_count: 8, held: { micros: HOLD }, lapse_reason: null });
    expect(await spendOf(tenant)).toMatchObject({
      available: { micros: HOLD },
      held_for_reservations: { micros: HOLD },
    });
    // Another project of the tenant cannot spend it.
    const elsewhere = await tenant.admin.post<{ id: string }>('/api/v1/projects', {
      organization_id: tenant.organizationId,
      name: 'elsewhere',
    });
    const other = await tenant.admin.ask('POST', '/api/v1/allocations', launchBody(elsewhere.id, 1));
    expect(other.body).toMatchObject({
      code: 'balance_too_low',
      kept_for_reservations: { micros: HOLD },
    });
    // Nor can a second reservation or a refund.
    await setPolicy('reservations.max_fleet_percent', 100);
    expect((await reserve(tenant, { project_id: elsewhere.id })).body).toMatchObject({
      code: 'balance_too_low',
      kept_for_reservations: { micros: HOLD },
    });
    await setPolicy('reservations.max_fleet_percent', 25);
    const refund = await operator.ask('POST', `/api/v1/admin/payments/${paid.id}/refunds`, {
      amount: { currency: 'USD', micros: 10_000 },
      reason: 'For the test',
    });
    expect(refund.body).toMatchObject({ code: 'refund_refused', refundable: { micros: 0 } });
    // The project itself uses what is held for it.
    const own = await launch(tenant, 8);
    expect(own.status, own.text).toBe(202);
    expect(await spendOf(tenant)).toMatchObject({ held_for_reservations: { micros: 0 } });
    expect(await show(tenant, made.body.id)).toMatchObject({ gpus_used: 8 });
  });

  it('is counted once when reservations and launches come together', async () => {
    await addHost(api.services.db);
    await addHost(api.services.db);
    const tenant = await newTenant(api);
    const first = await launch(tenant, 1);
    expect(first.status).toBe(202);
    await setBalance(tenant, HOLD + 2_990_000 + 100);
    // Money for the reservation or for the other launches, not for both.
    const answers = await Promise.all([
      reserve(tenant, { starts_at: new Date(Date.now() + 24 * HOUR).toISOString() }),
      ...Array.from({ length: 4 }, () => launch(tenant, 2)),
    ]);
    const [reserved, ...launched] = answers;
    const { rows } = await sql<{ rate: bigint }>`
      select sum(per_gpu_hour_micros * gpu_count)::bigint as rate from allocations
      where organization_id = ${tenant.organizationId}`.execute(api.services.db);
    const needed = Number(rows[0]!.rate) + (reserved.status === 201 ? HOLD : 0);
    expect(needed).toBeLessThanOrEqual(HOLD + 2_990_000 + 100);
    expect(launched.some(({ status }) => status === 202) || reserved.status === 201).toBe(true);
  });

  it('is spent only on the reserved nodes, also by launches of the project', async () => {
    await addHost(api.services.db);
    const tenant = await newTenant(api);
    expect((await reserve(tenant)).status).toBe(201);
    expect((await launch(tenant, 5)).status).toBe(202);
    // Four GPUs do not fit beside the five: they would run on another host, beside three kept ones.
    await addHost(api.services.db);
    const keptMicros = 4 * 3 * GPU_HOUR;
    await setBalance(tenant, 9 * GPU_HOUR + keptMicros - 1);
    const elsewhere = { code: 'balance_too_low', kept_for_reservations: { micros: keptMicros } };
    expect((await launch(tenant, 4)).body).toMatchObject(elsewhere);
    // Sealed user-data keeps a launch off the fast path.
    const userData = { user_data: '#cloud-config\n{}\n' };
    expect((await launch(tenant, 4, userData)).body).toMatchObject(elsewhere);
    const both = await Promise.all([launch(tenant, 4), launch(tenant, 4)]);
    expect(both.map(({ body: one }) => one.code)).toEqual(['balance_too_low', 'balance_too_low']);
    // Three fit on the reserved node and use what is held.
    expect((await launch(tenant, 3)).status).toBe(202);
    expect((await spendOf(tenant)).held_for_reservations.micros).toBe(0);
  });

  it('is not spent by a queued launch that starts on another host', async () => {
    await addHost(api.services.db);
    const tenant = await newTenant(api);
    expect((await reserve(tenant)).status).toBe(201);
    expect((await launch(tenant, 5)).status).toBe(202);
    const queued = await launch(tenant, 4, { when_unavailable: 'queue' });
    expect(queued.body.state).toBe('queued');
    const needed = 9 * GPU_HOUR + 4 * 3 * GPU_HOUR;
    await setBalance(tenant, needed - 1);
    await addHost(api.services.db);
    await runQueue(worker);
    const path = `/api/v1/allocations/${queued.body.id}`;
    expect(await tenant.admin.get<Allocation>(path)).toMatchObject({
      state: 'queued',
      queue: { reason: 'money' },
    });
    await setBalance(tenant, needed);
    await runQueue(worker);
    expect((await tenant.admin.get<Allocation>(path)).state).toBe('reserved');
  });

  it('is compared by the same rule in the database and in the code', async () => {
    const reserved = await addHost(api.services.db);
    const tenant = await newTenant(api);
    expect((await reserve(tenant)).status).toBe(201);
    await launch(tenant, 3);
    const { organizationId, projectId } = tenant;
    const bound = (
      await api.services.db.transaction().execute((tx) => readCommitments(tx, organizationId, new Date()))
    ).get(`${organizationId} USD`)!;
    for (const nodeId of [reserved.nodeId, organizationId]) {
      for (const micros of [0n, 1_000_000n, 15_000_000n, 50_000_000n]) {
        const asked = { projectId, nodeId, micros };
        const launches = JSON.stringify([storedLaunch(asked)]);
        const { rows } = await sql<{ kept: bigint; covered: boolean }>`
          with k as (select kept_beside(c.kept, ${launches}::json) as kept
            from committed_funds(array[${organizationId}]::uuid[], now()) as c)
          select kept, covers(${String(60_000_000n)}::bigint, 0, 3600, kept, 14400) as covered from k`.execute(
          api.services.db,
        );
        const kept = keptBeside(bound.kept, [asked]);
        expect(rows).toEqual([{ kept, covered: covers(60_000_000n, 0n, 3600, kept, 14_400) }]);
      }
    }
    expect(keptBeside(bound.kept, [])).toBe(BigInt(5 * GPU_HOUR));
    const elsewhere = { projectId, nodeId: organizationId, micros: 15_000_000n };
    expect(keptBeside(bound.kept, [elsewhere])).toBe(BigInt(5 * GPU_HOUR));
  });

  it('is also kept in the statement that sells, which no race gets past', async () => {
    await addHost(api.services.db);
    const tenant = await newTenant(api);
    const later = { starts_at: new Date(Date.now() + 24 * HOUR).toISOString() };
    expect((await reserve(tenant, later)).status).toBe(201);
    const gpuHour = GPU_HOUR;
    const { nodeId: elsewhere } = await addHost(api.services.db);
    const holdWith = async (available: number): Promise<unknown> => {
      const launches = [{ projectId: tenant.projectId, nodeId: elsewhere, micros: gpuHour }];
      const asked = { asked: gpuHour, seconds: 3600, kept_seconds: 14_400, launches };
      const funds = [{ tenant: tenant.organizationId, currency: 'USD', available, ...asked }];
      return await sql`select hold_for_sale(${JSON.stringify(funds)}::json, '[]', '[]', '{}', '{}', 60)`.execute(
        api.services.db,
      );
    };
    await expect(holdWith(HOLD + gpuHour - 1)).rejects.toMatchObject({ code: 'GS001' });
    await holdWith(HOLD + gpuHour);
  });
});

describe('the limits of reservations', () => {
  it('count over all projects of a tenant, and say the numbers', async () => {
    for (let host = 0; host < 4; host += 1) await addHost(api.services.db);
    await setPolicy('reservations.max_fleet_percent', 100);
    await setPolicy('reservations.max_nodes_per_tenant', 2);
    const tenant = await newTenant(api);
    expect((await reserve(tenant, { node_count: 2 })).status).toBe(201);
    const second = await tenant.admin.post<{ id: string }>('/api/v1/projects', {
      organization_id: tenant.organizationId,
      name: 'second',
    });
    expect((await reserve(tenant, { project_id: second.id })).body).toMatchObject({
      code: 'reservation_refused',
      limit: 2,
      kept: 2,
      asked: 1,
    });
    await setPolicy('reservations.max_nodes_per_tenant', 4);
    await setPolicy('reservations.max_fleet_percent', 25);
  });

  it('leave most of the fleet to others, however many tenants reserve at the same time', async () => {
    for (let host = 0; host < 8; host += 1) await addHost(api.services.db);
    const tenants = await Promise.all(Array.from({ length: 4 }, () => newTenant(api)));
    const answers = await Promise.all(tenants.map((tenant) => reserve(tenant)));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(2);
    expect(answers.find(({ status }) => status !== 201)!.body).toMatchObject({
      code: 'reservation_refused',
      limit: 2,
      kept: 2,
      fleet: 8,
      percent: 25,
    });
    // Another time is another question.
    const later = {
      starts_at: new Date(Date.now() + 72 * HOUR).toISOString(),
      ends_at: new Date(Date.now() + 80 * HOUR).toISOString(),
    };
    expect((await reserve(tenants[3]!, later)).status).toBe(201);
  });

  it('are off for tenants that never paid, until an operator says otherwise', async () => {
    await addHost(api.services.db);
    const tenant = await newTenant(api);
    await sql`alter table ledger_transactions disable trigger all`.execute(api.services.db);
    await sql`update ledger_transactions set kind = 'adjustment' where organization_id = ${tenant.organizationId}`.execute(
      api.services.db,
    );
    await sql`alter table ledger_transactions enable trigger all`.execute(api.services.db);
    expect((await reserve(tenant)).body).toMatchObject({
      code: 'reservation_unpaid',
      payments: 0,
      credits: 0,
    });
    await setPolicy('reservations.requires_payment', false, tenant);
    expect((await reserve(tenant)).status).toBe(201);
  });
});

describe('a reservation', () => {
  const lapsed = async (id: string) =>
    (
      await sql<{ payload: Record<string, unknown> }>`
        select payload from outbox_events where event_type = 'reservation.lapsed' and subject_id = ${id}`.execute(
        api.services.db,
      )
    ).rows.map(({ payload }) => payload);

  it('that nobody uses lapses, and its nodes and money are free again', async () => {
    await addHost(api.services.db);
    const tenant = await newTenant(api);
    const { body: made } = await reserve(tenant);
    await checkReservations(worker);
    clock.advance(3_500_000);
    await checkReservations(worker);
    expect(await show(tenant, made.id)).toMatchObject({ state: 'active' });
    clock.advance(200_000);
    await Promise.all([checkReservations(worker), checkReservations(worker)]);
    expect(await show(tenant, made.id)).toMatchObject({
      state: 'lapsed',
      lapse_reason: 'unused',
      held: null,
    });
    expect(await lapsed(made.id)).toMatchObject([
      { lapse_reason: 'unused', node_count: 1, message: expect.stringContaining('50% of its 8 GPUs') },
    ]);
    const { rows } = await sql`
      select 1 from audit_logs where action = 'reservation.lapse' and target_id = ${made.id}`.execute(
      api.services.db,
    );
    expect(rows).toHaveLength(1);
    expect((await spendOf(tenant)).held_for_reservations.micros).toBe(0);
    expect((await launch(await newTenant(api), 8)).status).toBe(202);
  });

  it('that is used stays, one that is hardly used does not, and one that has not begun waits', async () => {
    for (let host = 0; host < 3; host += 1) await addHost(api.services.db);
    await setPolicy('reservations.max_fleet_percent', 100);
    const [busy, idle, early] = [await newTenant(api), await newTenant(api), await newTenant(api)];
    const ids = [
      (await reserve(busy)).body.id,
      (await reserve(idle)).body.id,
      (await reserve(early, { starts_at: new Date(Date.now() + 24 * HOUR).toISOString() })).body.id,
    ] as const;
    expect((await launch(busy, 4)).status).toBe(202);
    expect((await launch(idle, 3)).status).toBe(202);
    await checkReservations(worker);
    clock.advance(2 * HOUR);
    await checkReservations(worker);
    expect((await show(busy, ids[0])).state).toBe('active');
    expect((await show(idle, ids[1])).state).toBe('lapsed');
    expect((await show(early, ids[2])).state).toBe('upcoming');
    await setPolicy('reservations.max_fleet_percent', 25);
  });

  it('whose money is gone lapses, the newest first', async () => {
    for (let host = 0; host < 2; host += 1) await addHost(api.services.db);
    await setPolicy('reservations.max_fleet_percent', 100);
    const tenant = await newTenant(api);
    const [older, newer] = [(await reserve(tenant)).body, (await reserve(tenant)).body];
    await setBalance(tenant, HOLD);
    await checkReservations(worker);
    expect(await show(tenant, newer.id)).toMatchObject({ state: 'lapsed', lapse_reason: 'unfunded' });
    expect((await show(tenant, older.id)).state).toBe('active');
    await setPolicy('reservations.max_fleet_percent', 25);
  });

  it('that was kept unused is not kept again by the tenant before the cool-down is over', async () => {
    for (let host = 0; host < 2; host += 1) await addHost(api.services.db);
    await setPolicy('reservations.max_fleet_percent', 100);
    const cancel = (tenant: TestTenant, id: string) =>
      tenant.admin.ask('POST', `/api/v1/reservations/${id}/cancel`);
    const tenant = await newTenant(api);
    const upcoming = { starts_at: new Date(Date.now() + 2 * HOUR).toISOString() };
    for (let time = 0; time < 3; time += 1) {
      const made = await reserve(tenant, upcoming);
      expect(made.status).toBe(201);
      await cancel(tenant, made.body.id);
    }
    await cancel(tenant, (await reserve(tenant)).body.id);
    const refused = {
      status: 422,
      body: { code: 'reservation_refused', cooldown_until: expect.any(String) },
    };
    expect(await reserve(tenant)).toMatchObject(refused);
    expect(await reserve(tenant, upcoming)).toMatchObject(refused);
    const later = { starts_at: new Date(Date.now() + 25 * HOUR).toISOString() };
    expect((await reserve(tenant, later)).status).toBe(201);

    // A period that ends unused counts too, and so does a lapse.
    const [ended, lapsing] = [await newTenant(api), await newTenant(api)];
    const { id } = (await reserve(ended)).body;
    await sql`update capacity_reservations set ends_at = now() where id = ${id}`.execute(api.services.db);
    await sql`delete from node_promises where reservation_id = ${id}`.execute(api.services.db);
    expect(await reserve(ended)).toMatchObject(refused);
    expect((await reserve(lapsing)).status).toBe(201);
    await checkReservations(worker);
    clock.advance(2 * HOUR);
    await checkReservations(worker);
    await sql`update capacity_reservations set cancelled_at = now() where lapse_reason = 'unused'`.execute(
      api.services.db,
    );
    expect(await reserve(lapsing)).toMatchObject(refused);

    // Who used it, and whom an operator took it from, may reserve again.
    const [busy, robbed] = [await newTenant(api), await newTenant(api)];
    const used = (await reserve(busy)).body.id;
    expect((await launch(busy, 4)).status).toBe(202);
    await cancel(busy, used);
    expect((await reserve(busy)).status).toBe(201);
    await sql`delete from node_promises`.execute(api.services.db);
    await addHost(api.services.db);
    const taken = (await reserve(robbed)).body.id;
    expect((await operator.ask('POST', `/api/v1/admin/reservations/${taken}/cancel`)).status).toBe(200);
    expect((await reserve(robbed)).status).toBe(201);
    await setPolicy('reservations.max_fleet_percent', 25);
  });

  it('that an operator made holds no money and does not lapse', async () => {
    await addHost(api.services.db);
    const tenant = await newTenant(api);
    await setBalance(tenant, 1);
    const made = await operator.post<Reservation>('/api/v1/admin/reservations', body(tenant));
    expect(made).toMatchObject({ held: null, gpu_count: 8 });
    await checkReservations(worker);
    clock.advance(2 * HOUR);
    await checkReservations(worker);
    expect((await show(tenant, made.id)).state).toBe('active');
  });
});

it('a queued launch does not start on funds that another commitment needs meanwhile', async () => {
  const tenant = await newTenant(api);
  await addHost(api.services.db, 1);
  const first = await launch(tenant, 1);
  expect(first.status).toBe(202);
  const queued = await launch(tenant, 1, { when_unavailable: 'queue' });
  expect(queued.body.state).toBe('queued');
  await setBalance(tenant, 2 * 2_990_000 - 1);
  await sql`update allocations set state = 'active', active_at = now() where id = ${first.body.id}`.execute(
    api.services.db,
  );
  await addHost(api.services.db, 1);
  await runQueue(worker);
  const waiting = await tenant.admin.get<Allocation>(`/api/v1/allocations/${queued.body.id}`);
  expect(waiting).toMatchObject({ state: 'queued', queue: { reason: 'money' } });
  await setBalance(tenant, 2 * 2_990_000);
  await runQueue(worker);
  expect((await tenant.admin.get<Allocation>(`/api/v1/allocations/${queued.body.id}`)).state).toBe(
    'reserved',
  );
});
