import { releaseLeases } from '@gpuaas/control-plane/domains/allocations/release/release-leases';
import { meterAllLeases } from '@gpuaas/control-plane/domains/billing/metering/metering-tick';
import { reconcileMeters } from '@gpuaas/control-plane/domains/billing/metering/reconcile-meters';
import { startMeter } from '@gpuaas/control-plane/domains/billing/metering/start-meter';
import { verifySnapshots, verifyUsage } from '@gpuaas/control-plane/domains/billing/metering/verify-usage';
import { checkAllBalances } from '@gpuaas/control-plane/domains/billing/funds/watch-balances';
import { manualClock } from '@gpuaas/control-plane/platform/clock';
import { servicesAsRole } from '@gpuaas/control-plane/platform/db/scope';
import { newId } from '@gpuaas/control-plane/platform/ids';
import type { Services } from '@gpuaas/control-plane/platform/services';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { seedAllocation } from '../../benchmarks/seed-allocation.ts';
import { launchBody } from '../../harness/allocations/allocations.ts';
import { createTestApi, type TestApi } from '../../harness/api.ts';

const HOUR_MS = 3_600_000;
let api: TestApi;
let tenant: string;
let clock: ReturnType<typeof manualClock>;
let worker: Services;
let nodeId: string;

beforeAll(async () => {
  api = await createTestApi({ withoutCredit: true });
  tenant = api.people['admin']!.organizationId!;
  clock = manualClock(new Date());
  worker = { ...servicesAsRole(api.services, 'gpuaas_worker'), clock };
  nodeId = newId();
  await sql`insert into nodes (id, hostname, region, pool, rack, node_family)
    values (${nodeId}, 'spending', 'uae-north-1', 'p', 'r', 'f')`.execute(api.services.db);
});
afterAll(() => api?.stop());
beforeEach(() => heard());

async function ask(person: string, method: 'GET' | 'POST' | 'PUT', url: string, payload?: object) {
  const headers = { authorization: `Bearer ${api.people[person]!.apiKey}` };
  const answer = await api.server.inject({ method, url, headers, ...(payload ? { payload } : {}) });
  return { status: answer.statusCode, body: answer.json() };
}

const credit = (micros: number) =>
  ask('operator', 'POST', `/api/v1/admin/tenants/${tenant}/ledger-adjustments`, {
    kind: micros > 0 ? 'credit' : 'adjustment',
    amount: { currency: 'USD', micros },
    reason: 'For the test',
  });
const balance = async (): Promise<number> =>
  (await ask('admin', 'GET', `/api/v1/billing/balance?organization_id=${tenant}`)).body.balances[0].micros;
const launch = () =>
  ask('member', 'POST', '/api/v1/allocations', launchBody(api.people['member']!.projectId!, 1));
const look = () => checkAllBalances(worker, releaseLeases);

/** The host reports its machines, at the test's time. */
async function heard(...machines: string[]): Promise<void> {
  const vms = machines.map((allocation_id) => ({ allocation_id, state: 'running', started_at: 'x' }));
  await sql`update nodes set last_heartbeat_at = ${clock.now()}, observed = ${JSON.stringify({ vms })}
    where id = ${nodeId}`.execute(api.services.db);
}

/** A lease at one currency unit an hour that has just become active. */
async function lease(): Promise<string> {
  const { db } = api.services;
  const id = await seedAllocation(db, api.people['member']!);
  await sql`update allocations set active_at = ${clock.now()}, node_id = ${nodeId}, per_gpu_hour_micros = 1000000
    where id = ${id}`.execute(db);
  await db.transaction().execute(async (tx) => {
    await startMeter(
      tx,
      await tx.selectFrom('allocations').selectAll().where('id', '=', id).executeTakeFirstOrThrow(),
    );
  });
  return id;
}

async function events(type: string): Promise<Record<string, unknown>[]> {
  const { rows } = await sql<{ payload: Record<string, unknown> }>`
    select payload from outbox_events where event_type = ${type} order by position`.execute(api.services.db);
  return rows.map(({ payload }) => payload);
}

describe('money that acts', () => {
  it('refuses a launch that the balance does not cover for an hour, and says what happens at zero', async () => {
    await api.services.db.updateTable('sku_catalog').set({ enabled: true }).execute();
    // Who never paid has no grace.
    expect((await launch()).body.at_zero).toContain('released immediately');
    await credit(1);
    await credit(-1);
    const refused = await launch();
    expect(refused).toMatchObject({
      status: 409,
      body: { code: 'balance_too_low', available: { micros: 0 } },
    });
    expect(refused.body.at_zero).toContain('released 1 h later');
    await credit(refused.body.required.micros);
    expect((await launch()).body.code).toBe('sku_unavailable');
    await credit(-1);
    expect((await launch()).body.code).toBe('balance_too_low');
    const line = `/api/v1/admin/policies/billing.credit_line_micros?organization_id=${tenant}`;
    expect((await ask('operator', 'PUT', line, { value: 1 })).status).toBe(200);
    await api.services.policies.refresh();
    expect((await launch()).body.code).toBe('sku_unavailable');
  });

  it('accrues by the second, warns, gives grace, stops, and is exact at the end', async () => {
    await credit(1_000_000);
    const id = await lease();
    await heard(id);
    const url = `/api/v1/billing/spend?organization_id=${tenant}`;
    const start = (await ask('admin', 'GET', url)).body.spend[0];
    expect(start).toMatchObject({ per_hour: { micros: 1_000_000 }, standing: 'good' });
    await look();
    await look();
    expect(await events('billing.low_balance_warning')).toHaveLength(1);
    clock.advance(90 * 60_000);
    await heard(id);
    await meterAllLeases(worker);
    const [record] = (await ask('admin', 'GET', `/api/v1/billing/usage?organization_id=${tenant}`)).body
      .items;
    expect(record).toMatchObject({ allocation_id: id, billed_seconds: 3600, amount: { micros: 1_000_000 } });
    await credit(-(await balance()));
    await look();
    await look();
    const notices = await events('billing.balance_exhausted');
    expect(notices).toHaveLength(1);
    expect(notices[0]).toMatchObject({ per_hour_micros: 1_000_000, runs_out_at: clock.now().toISOString() });
    clock.advance(HOUR_MS);
    await heard(id);
    await look();
    const stopped = await api.services.db
      .selectFrom('allocations')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    expect(stopped).toMatchObject({ desired_state: 'released', release_requested_at: clock.now() });
    await heard();
    await Promise.all([meterAllLeases(worker), meterAllLeases(worker)]);
    expect(await balance()).toBe(-1_500_000);
    const { faults } = await verifyUsage(api.services.db);
    expect([...faults, ...(await verifySnapshots(api.services.db))]).toEqual([]);
    expect((await ask('admin', 'GET', url)).body.spend[0]).toMatchObject({
      per_hour: { micros: 0 },
      standing: 'stopped',
    });
  });
});

describe('a tenant that never paid', () => {
  it('has no grace: its leases stop when the money is used up', async () => {
    const { db } = api.services;
    const stranger = api.people['other']!;
    const id = await lease();
    await sql`update allocations set organization_id = ${stranger.organizationId}, project_id = ${stranger.projectId}
      where id = ${id}`.execute(db);
    await sql`update allocation_meters set organization_id = ${stranger.organizationId},
      project_id = ${stranger.projectId} where allocation_id = ${id}`.execute(db);
    clock.advance(1000);
    await heard(id);
    await look();
    const stopped = await db
      .selectFrom('allocations')
      .select('desired_state')
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    expect(stopped.desired_state).toBe('released');
    await sql`update allocation_meters set ended_at = now() where allocation_id = ${id}`.execute(db);
    await sql`delete from billing_standings where organization_id = ${stranger.organizationId}`.execute(db);
  });
});

describe('many tenants', () => {
  /** More than one batch. */
  const TENANTS = 1100;

  it('are all checked, and only low balances are written', async () => {
    const { db } = api.services;
    await sql`insert into organizations (id, name)
      select gen_random_uuid(), 'many ' || n from generate_series(1, ${TENANTS}) n`.execute(db);
    await sql`insert into balance_snapshots (organization_id, currency, micros)
      select id, 'USD', 5000000 from organizations where name like 'many %'`.execute(db);
    const { rows } = await sql<{ id: string; project_id: string }>`
      insert into projects (id, organization_id, name)
      select gen_random_uuid(), max(id::text)::uuid, 'default' from organizations where name like 'many %'
      returning organization_id as id, id as project_id`.execute(db);
    const { id: last, project_id } = rows[0]!;
    const spent = await lease();
    await sql`update allocation_meters set organization_id = ${last}, project_id = ${project_id}
      where allocation_id = ${spent}`.execute(db);
    await look();
    await look();
    const { rows: written } = await sql<{ organization_id: string; standing: string }>`
      select s.organization_id, s.standing from billing_standings s join organizations o on o.id = s.organization_id
      where o.name like 'many %'`.execute(db);
    expect(written).toEqual([{ organization_id: last, standing: 'low' }]);
    const warnings = (await events('billing.low_balance_warning')).filter(
      (e) => e['organization_id'] === last,
    );
    expect(warnings).toEqual([
      expect.objectContaining({ project_id: null, project_ids: [project_id], available_micros: 5_000_000 }),
    ]);
    await sql`update allocation_meters m set organization_id = a.organization_id, project_id = a.project_id
      from allocations a where a.id = m.allocation_id and m.allocation_id = ${spent}`.execute(db);
    await sql`update allocation_meters set ended_at = now() where allocation_id = ${spent}`.execute(db);
  });

  it('are warned when something starts to run on money that was low before', async () => {
    const { db } = api.services;
    const other = api.people['other']!.organizationId!;
    const warnings = async () =>
      (await events('billing.low_balance_warning')).filter((e) => e['organization_id'] === other).length;
    await sql`insert into balance_snapshots (organization_id, currency, micros) values (${other}, 'USD', 0)`.execute(
      db,
    );
    await look();
    expect(await warnings()).toBe(0);
    await sql`update balance_snapshots set micros = 1000000 where organization_id = ${other}`.execute(db);
    const spent = await lease();
    await sql`update allocation_meters set organization_id = ${other} where allocation_id = ${spent}`.execute(
      db,
    );
    await look();
    await look();
    expect(await warnings()).toBe(1);
    await sql`update allocation_meters set ended_at = now(), organization_id = ${tenant}
      where allocation_id = ${spent}`.execute(db);
  });
});

describe('meters and hosts', () => {
  const open = async () =>
    (await ask('operator', 'GET', '/api/v1/admin/incidents')).body.items
      .filter(({ state }: { state: string }) => state !== 'resolved')
      .map(({ type, target_id }: { type: string; target_id: string }) => [type, target_id]);
  const reconcile = () => reconcileMeters.run(worker, { from: clock.now(), to: clock.now() });

  it('that disagree open an incident until they agree again', async () => {
    const id = await lease();
    const stray = newId();
    clock.advance(120_000);
    await heard(stray);
    await reconcile();
    expect(await open()).toEqual(
      expect.arrayContaining([
        ['meter_without_workload', id],
        ['workload_without_meter', stray],
      ]),
    );
    await heard(id);
    await reconcile();
    expect(await open()).toEqual([]);
  });
});
