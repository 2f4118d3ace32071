import { meterAllLeases } from '@gpuaas/control-plane/domains/billing/metering/metering-tick';
import { startMeter } from '@gpuaas/control-plane/domains/billing/metering/start-meter';
import { servicesAsRole } from '@gpuaas/control-plane/platform/db/scope';
import { newId } from '@gpuaas/control-plane/platform/ids';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { seedAllocation } from '../../benchmarks/seed-allocation.ts';
import { createTestApi, type TestApi } from '../../harness/api.ts';

const MINUTE_MS = 60_000;
const PER_HOUR = 3_600_000;

let api: TestApi;
const nodeId = newId();

beforeAll(async () => {
  api = await createTestApi();
  await sql`insert into nodes (id, hostname, region, pool, rack, node_family)
    values (${nodeId}, 'lease-cost', 'uae-north-1', 'p', 'r', 'f')`.execute(api.services.db);
});
afterAll(() => api?.stop());

const ago = (minutes: number): Date => new Date(Date.now() - minutes * MINUTE_MS);

/** A lease of one GPU at a thousandth of a unit a second. */
async function lease(activeAt: Date): Promise<string> {
  const { db } = api.services;
  const id = await seedAllocation(db, api.people['member']!);
  await sql`update allocations set active_at = ${activeAt}, node_id = ${nodeId}, gpu_count = 1,
    per_gpu_hour_micros = ${PER_HOUR} where id = ${id}`.execute(db);
  await db.transaction().execute(async (tx) => {
    const row = tx.selectFrom('allocations').selectAll().where('id', '=', id);
    await startMeter(tx, await row.executeTakeFirstOrThrow());
  });
  return id;
}

async function hostHeard(at: Date): Promise<void> {
  await sql`update nodes set last_heartbeat_at = ${at} where id = ${nodeId}`.execute(api.services.db);
}

async function ask(person: string, url: string) {
  const headers = { authorization: `Bearer ${api.people[person]!.apiKey}` };
  return (await api.server.inject({ method: 'GET', url, headers })).json();
}

/** The same cost in every place where people read it. */
async function costs(id: string) {
  const { organizationId, projectId } = api.people['admin']!;
  const one = await ask('admin', `/api/v1/allocations/${id}`);
  const list = await ask('admin', `/api/v1/allocations?project_id=${one.project_id ?? projectId}`);
  const accruals = await ask('admin', `/api/v1/billing/accruals?organization_id=${organizationId}`);
  const accrual = accruals.items.find((item: { allocation_id: string }) => item.allocation_id === id);
  return {
    allocation: one.cost_so_far.micros,
    accruing: one.accruing,
    listed: list.items.find((item: { id: string }) => item.id === id).cost_so_far.micros,
    operators: (await ask('operator', `/api/v1/admin/allocations/${id}`)).allocation.cost_so_far.micros,
    billing: accrual.billed.micros + accrual.accrued.micros,
  };
}

it('is the same on every page while the host is silent, and after the meter has run', async () => {
  const id = await lease(ago(60));
  await hostHeard(ago(20));
  const served = 40 * 60 * 1_000;
  const everywhere = {
    allocation: served,
    listed: served,
    operators: served,
    billing: served,
    accruing: false,
  };
  expect(await costs(id)).toEqual(everywhere);
  await meterAllLeases(servicesAsRole(api.services, 'gpuaas_worker'));
  expect(await costs(id)).toEqual(everywhere);
});

it('grows while the host is heard of', async () => {
  const id = await lease(ago(10));
  await hostHeard(new Date());
  const { allocation, accruing } = await costs(id);
  expect(accruing).toBe(true);
  expect(allocation).toBeGreaterThanOrEqual(10 * 60 * 1_000);
});

it('stands still during an outage that the host has shown', async () => {
  const id = await lease(ago(30));
  await hostHeard(new Date());
  await sql`insert into allocation_outages (id, allocation_id, cause, served, began_at)
    values (${newId()}, ${id}, 'machine_absent', false, ${ago(20)})`.execute(api.services.db);
  const { accruing, ...found } = await costs(id);
  expect(accruing).toBe(false);
  expect(new Set(Object.values(found))).toEqual(new Set([10 * 60 * 1_000]));
});
