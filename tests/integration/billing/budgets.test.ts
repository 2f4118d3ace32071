import { releaseLeases } from '@gpuaas/control-plane/domains/allocations/release/release-leases';
import { checkAllBudgets } from '@gpuaas/control-plane/domains/billing/budgets/watch-budgets';
import { startMeter } from '@gpuaas/control-plane/domains/billing/metering/start-meter';
import { manualClock } from '@gpuaas/control-plane/platform/clock';
import { servicesAsRole } from '@gpuaas/control-plane/platform/db/scope';
import { newId } from '@gpuaas/control-plane/platform/ids';
import type { Services } from '@gpuaas/control-plane/platform/services';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { seedAllocation } from '../../benchmarks/seed-allocation.ts';
import { launchBody } from '../../harness/allocations/allocations.ts';
import { createTestApi, type TestApi } from '../../harness/api.ts';

let api: TestApi;
let tenant: string;
let projectId: string;
let member: string;
let team: string;
let clock: ReturnType<typeof manualClock>;
let worker: Services;

beforeAll(async () => {
  api = await createTestApi();
  tenant = api.people['admin']!.organizationId!;
  projectId = api.people['member']!.projectId!;
  // Mid-month, so that no test crosses into the next.
  clock = manualClock(new Date('2026-06-15T12:00:00Z'));
  worker = { ...servicesAsRole(api.services, 'gpuaas_worker'), clock };
  const { db } = api.services;
  await db.updateTable('sku_catalog').set({ enabled: true }).execute();
  const row = await db
    .selectFrom('users')
    .select('id')
    .where('email', '=', api.people['member']!.email)
    .executeTakeFirstOrThrow();
  member = row.id;
  team = newId();
  await sql`insert into teams (id, organization_id, name) values (${team}, ${tenant}, 'spenders')`.execute(
    db,
  );
  await sql`insert into team_members (team_id, user_id, organization_id)
    values (${team}, ${member}, ${tenant})`.execute(db);
});
afterAll(() => api?.stop());

async function ask(
  method: 'GET' | 'PUT' | 'POST' | 'DELETE',
  url: string,
  payload?: object,
  person = 'admin',
) {
  const headers = { authorization: `Bearer ${api.people[person]!.apiKey}` };
  const answer = await api.server.inject({ method, url, headers, ...(payload ? { payload } : {}) });
  return { status: answer.statusCode, body: answer.body ? answer.json() : null };
}

const budget = (scope_type: string, scope_id: string, change: object = {}) =>
  ask('PUT', '/api/v1/billing/budgets', {
    organization_id: tenant,
    scope_type,
    scope_id,
    monthly: { currency: 'USD', micros: 2_000_000 },
    thresholds: [50, 90],
    at_cap: 'refuse',
    ...change,
  });
const launch = () => ask('POST', '/api/v1/allocations', launchBody(projectId, 1), 'member');
const remove = (id: string) => ask('DELETE', `/api/v1/billing/budgets/${id}`);
const look = () => checkAllBudgets(worker, releaseLeases);

/** A lease of the member at one currency unit an hour that has run since the hours given, by either clock. */
async function lease(hours: number, now: Date): Promise<string> {
  const { db } = api.services;
  const id = await seedAllocation(db, api.people['member']!);
  const since = new Date(now.getTime() - hours * 3_600_000);
  await sql`update allocations set active_at = ${since}, owner_user_id = ${member}, per_gpu_hour_micros = 1000000
    where id = ${id}`.execute(db);
  await db.transaction().execute(async (tx) => {
    const row = await tx.selectFrom('allocations').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
    await startMeter(tx, row);
  });
  return id;
}

async function end(id: string): Promise<void> {
  await sql`delete from allocation_meters where allocation_id = ${id}`.execute(api.services.db);
}

async function alerts(): Promise<unknown[]> {
  const { rows } = await sql<{ percent: unknown }>`select payload -> 'percent' as percent from outbox_events
    where event_type = 'billing.budget_threshold_reached' order by position`.execute(api.services.db);
  return rows.map(({ percent }) => percent);
}

describe('a budget that is used up', () => {
  it.each([
    ['tenant', () => tenant],
    ['project', () => projectId],
    ['team', () => team],
    ['user', () => member],
  ])('of a %s refuses what counts to it, and nothing when it is gone', async (scope, id) => {
    const running = await lease(3, new Date());
    const { body } = await budget(scope, id());
    expect(body.spent.micros).toBeGreaterThanOrEqual(3_000_000);
    expect(await launch()).toMatchObject({
      status: 409,
      body: { code: 'budget_exceeded', scope_type: scope, budget_id: body.id },
    });
    await budget(scope, id(), { at_cap: 'notify' });
    expect((await launch()).body.code).toBe('sku_unavailable');
    await budget(scope, id());
    expect((await remove(body.id)).status).toBe(204);
    expect((await launch()).body.code).toBe('sku_unavailable');
    await end(running);
  });

  it('alerts once per threshold and releases all leases that count towards it', async () => {
    const { body } = await budget('user', member, { at_cap: 'release' });
    const running = await lease(0, clock.now());
    await look();
    expect(await alerts()).toEqual([]);
    clock.advance(3_600_000);
    await look();
    await look();
    expect(await alerts()).toEqual([50]);
    clock.advance(3_600_000);
    await look();
    await look();
    expect(await alerts()).toEqual([50, 100]);
    const row = await api.services.db
      .selectFrom('allocations')
      .select(['desired_state', 'release_requested_at'])
      .where('id', '=', running)
      .executeTakeFirstOrThrow();
    expect(row).toEqual({ desired_state: 'released', release_requested_at: clock.now() });
    await remove(body.id);
    await end(running);
  });
});

describe('budgets', () => {
  it('exist only for scopes of the tenant, and need the permission', async () => {
    expect(await budget('project', newId())).toMatchObject({
      status: 422,
      body: { code: 'budget_scope_unknown' },
    });
    const body = {
      organization_id: tenant,
      scope_type: 'tenant',
      scope_id: tenant,
      monthly: { currency: 'USD', micros: 1 },
      thresholds: [],
      at_cap: 'refuse',
    };
    expect((await ask('PUT', '/api/v1/billing/budgets', body, 'member')).status).toBe(403);
    expect((await ask('PUT', '/api/v1/billing/budgets', body, 'other')).status).toBe(404);
  });
});
