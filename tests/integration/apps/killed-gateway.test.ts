import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { recordAppRequests } from '@gpuaas/control-plane/domains/billing/app-usage/record-requests';
import { servicesAsRole } from '@gpuaas/control-plane/platform/db/scope';
import { AppClient } from '../../harness/apps/app-client.ts';
import { launchMachine, startWebApp, type WebApp } from '../../harness/apps/web-app.ts';
import { eventually } from '../../harness/eventually.ts';
import { startTestPlatform, type TestPlatform } from '../../harness/platform.ts';
import { freePort } from '../../harness/processes/free-port.ts';
import { roleProcesses } from '../../harness/processes/role-processes.ts';

let platform: TestPlatform;
let app: WebApp;
let roles: ReturnType<typeof roleProcesses>;

beforeAll(async () => {
  platform = await startTestPlatform({ nodes: 1 });
  const { baseUrl, databaseUrl, dataDir } = platform;
  app = await startWebApp(platform, await launchMachine(platform), { slug: 'killed', port: 8000 });
  roles = roleProcesses({ DATABASE_URL: databaseUrl, GPUAAS_DATA_DIR: dataDir, GPUAAS_PUBLIC_URL: baseUrl });
});
afterAll(async () => {
  await roles?.stop();
  await platform?.stop();
});

async function sums(): Promise<{ counted: number; recorded: number }> {
  const { rows } = await sql<{ counted: bigint; recorded: bigint }>`select
      (select coalesce(sum(requests), 0)::bigint from app_request_counts where app_instance_id = ${app.instanceId}) as counted,
      (select coalesce(sum(quantity), 0)::bigint from app_usage_records where app_instance_id = ${app.instanceId}) as recorded`.execute(
    platform.services.db,
  );
  return { counted: Number(rows[0]!.counted), recorded: Number(rows[0]!.recorded) };
}

it('a gateway in a separate process serves apps, and a kill loses only its last counts', async () => {
  const appsPort = await freePort();
  const gateway = await roles.start('app-gateway', { GPUAAS_APPS_PORT: String(appsPort) });
  const client = new AppClient(appsPort, app.label);
  const headers = { authorization: `Bearer ${platform.keys.member}` };
  const send = async (requests: number): Promise<void> => {
    for (let sent = 0; sent < requests; sent += 1)
      expect((await client.call('/', { headers })).status).toBe(200);
  };
  await send(30);
  await eventually('the counts', async () => ((await sums()).counted === 30 ? true : null), 60_000);
  await send(10);
  await gateway.end('SIGKILL');
  const { counted } = await sums();
  expect(counted).toBeGreaterThanOrEqual(30);
  expect(counted).toBeLessThanOrEqual(40);
  await eventually('the records', async () => ((await sums()).recorded === counted ? true : null), 60_000);
});

it('several workers record each count once', async () => {
  const { db } = platform.services;
  const before = (await sums()).recorded;
  for (let round = 0; round < 20; round += 1)
    await sql`insert into app_request_counts (id, app_instance_id, organization_id, project_id, allocation_id, app, requests,
        counted_at)
      select gen_random_uuid(), app_instance_id, organization_id, project_id, allocation_id, app, 1, now()
      from app_request_counts where app_instance_id = ${app.instanceId} limit 1`.execute(db);
  const worker = servicesAsRole(platform.services, 'gpuaas_worker');
  const period = { start: new Date(), end: new Date() } as never;
  await Promise.all([1, 2, 3, 4].map(() => recordAppRequests.run(worker, period)));
  await eventually(
    'all of them',
    async () => ((await sums()).recorded === before + 20 ? true : null),
    60_000,
  );
  await pause(1000);
  expect((await sums()).recorded).toBe(before + 20);
});
