import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { unwrap } from '@gpuaas/sdk/problem';
import { reconcileAppRequests } from '@gpuaas/control-plane/domains/billing/app-usage/reconcile-requests';
import { servicesAsRole } from '@gpuaas/control-plane/platform/db/scope';
import {
  getAllocation,
  release,
  waitForState,
  type Allocation,
} from '../../harness/allocations/allocations.ts';
import { AppClient } from '../../harness/apps/app-client.ts';
import { appIs, publish, runApp, shellManifest } from '../../harness/apps/apps.ts';
import { launchMachine, startWebApp, type WebApp } from '../../harness/apps/web-app.ts';
import { eventually } from '../../harness/eventually.ts';
import { startTestPlatform, type TestPlatform } from '../../harness/platform.ts';

let platform: TestPlatform;
let allocation: Allocation;
let app: WebApp;

beforeAll(async () => {
  platform = await startTestPlatform({ nodes: 1 });
  allocation = await launchMachine(platform);
  app = await startWebApp(platform, allocation, { slug: 'counted', port: 8000 });
  await unwrap(
    platform.operator.POST('/api/v1/admin/app-usage-prices', {
      body: { app: 'counted', dimension: 'requests', price: { currency: 'USD', micros: 1_000_000 }, per: 10 },
    }),
  );
});
afterAll(() => platform?.stop());

const usage = () =>
  unwrap(
    platform.member.GET('/api/v1/app-instances/{app_instance_id}/usage', {
      params: { path: { app_instance_id: app.instanceId } },
    }),
  );

it('answered requests are recorded with the instance, priced and debited; refused ones are not', async () => {
  const client = new AppClient(platform.appsPort, app.label);
  const key = { authorization: `Bearer ${platform.keys.member}` };
  for (let sent = 0; sent < 25; sent += 1)
    expect((await client.call('/', { headers: key })).status).toBe(200);
  expect((await client.call('/')).status).toBe(401);
  expect((await client.call('/garbage', { headers: key })).status).toBe(502);
  const recorded = await eventually(
    'the records',
    async () => {
      const now = await usage();
      return now.recorded_requests === 25 ? now : null;
    },
    60_000,
  );
  expect(recorded).toMatchObject({ requests: 25, costs: [{ currency: 'USD', micros: 2_500_000 }] });
  const { rows } = await sql<{ quantity: bigint; allocation_id: string; debited: boolean }>`
    select quantity, allocation_id, ledger_transaction_id is not null as debited from app_usage_records
    where producer = 'app-gateway' and app_instance_id = ${app.instanceId}`.execute(platform.services.db);
  expect(rows.reduce((sum, { quantity }) => sum + quantity, 0n)).toBe(25n);
  for (const row of rows) expect(row).toMatchObject({ allocation_id: allocation.id, debited: true });
});

it('the reconciler opens an incident for counts that billing does not show, and closes it', async () => {
  const { db } = platform.services;
  const worker = servicesAsRole(platform.services, 'gpuaas_worker');
  const reconcile = () => reconcileAppRequests.run(worker, { from: new Date(), to: new Date() });
  const open = async () => {
    const { rows } = await sql<{ summary: string }>`select summary from incidents
      where type = 'app_runtime_billing' and target_id = ${app.instanceId} and resolved_at is null`.execute(
      db,
    );
    return rows.map(({ summary }) => summary);
  };
  await reconcile();
  expect(await open()).toEqual([]);
  const changed = await sql<{ id: string }>`update app_request_counts set requests = requests + 1
    where id = (select id from app_request_counts where app_instance_id = ${app.instanceId} and recorded_at is not null limit 1)
    returning id`.execute(db);
  await reconcile();
  expect(await open()).toEqual([expect.stringContaining('recorded differently')]);
  await sql`update app_request_counts set requests = requests - 1 where id = ${changed.rows[0]!.id}`.execute(
    db,
  );
  await reconcile();
  expect(await open()).toEqual([]);
});

it('nobody else reports as the gateway', async () => {
  const body = {
    producer: 'app-gateway',
    records: [
      {
        record_id: 'forged-record',
        organization_id: allocation.organization_id,
        project_id: allocation.project_id,
        app: 'counted',
        dimension: 'requests' as const,
        quantity: 1,
        occurred_at: new Date().toISOString(),
      },
    ],
  };
  await expect(
    unwrap(platform.operator.POST('/api/v1/admin/app-usage-records', { body })),
  ).rejects.toMatchObject({ code: 'invalid_request' });
});

const costOf = (id: string) =>
  unwrap(
    platform.member.GET('/api/v1/app-instances/{app_instance_id}/cost', {
      params: { path: { app_instance_id: id } },
    }),
  );

it('instances share the cost of their allocation to the last micro-unit, and each bears its requests', async () => {
  const { operator, member, services } = platform;
  // The machine was in use from its first second on.
  await sql`update app_instances set started_at = (select started_at from allocation_meters
    where allocation_id = ${allocation.id}) where id = ${app.instanceId}`.execute(services.db);
  const alone = await costOf(app.instanceId);
  expect(alone).toMatchObject({ requests: [{ currency: 'USD', micros: 2_500_000 }], is_accruing: true });
  await publish(operator, 'neighbour', shellManifest('exec sleep 1000', { kind: 'service' }));
  const { id: neighbour } = await runApp(member, {
    project_id: platform.projectId,
    app_slug: 'neighbour',
    allocation_id: allocation.id,
  });
  await appIs(member, neighbour, 'running');
  await eventually('a share of the neighbour', async () =>
    (await costOf(neighbour)).lease_share?.micros ? true : null,
  );
  await release(member, allocation.id);
  await waitForState(member, allocation.id, 'released');
  const { cost_so_far: cost } = await getAllocation(member, allocation.id);
  const [first, second] = [await costOf(app.instanceId), await costOf(neighbour)];
  const [own, others] = [first.lease_share?.micros ?? 0, second.lease_share?.micros ?? 0];
  expect(own + others).toBe(cost?.micros);
  expect(own).toBeGreaterThan(others);
  expect(others).toBeGreaterThan(0);
  expect(first.totals).toEqual([{ currency: 'USD', micros: own + 2_500_000 }]);
  expect(second).toMatchObject({ requests: [], is_accruing: false });
});
