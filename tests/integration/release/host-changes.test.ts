import { notifyHostChanges } from '@gpuaas/control-plane/domains/allocations/reconcile/notify-host-changes';
import { servicesAsRole } from '@gpuaas/control-plane/platform/db/scope';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { launchBody } from '../../harness/allocations/allocations.ts';
import { createTestApi, type TestApi } from '../../harness/api.ts';
import { addHost } from '../../harness/fleet/fleet-rows.ts';
import { newTenant, type Schemas, type TestTenant } from '../../harness/tenancy.ts';

let api: TestApi;
beforeAll(async () => {
  api = await createTestApi();
  await sql`update sku_catalog set enabled = true`.execute(api.services.db);
});
afterAll(() => api?.stop());

async function activeOnNewHost({ admin, projectId }: TestTenant): Promise<{ id: string; nodeId: string }> {
  await sql`update nodes set draining = true`.execute(api.services.db);
  const { nodeId } = await addHost(api.services.db);
  const { id } = await admin.post<Schemas['Allocation']>('/api/v1/allocations', launchBody(projectId, 1));
  await sql`update allocations set state = 'active', active_at = now() where id = ${id}`.execute(
    api.services.db,
  );
  return { id, nodeId };
}

it('watching hosts locks only the leases that have news, and reports each once', async () => {
  const { db } = api.services;
  const tenant = await newTenant(api);
  const quiet = await activeOnNewHost(tenant);
  const silent = await activeOnNewHost(tenant);
  await sql`update nodes set last_heartbeat_at = now() - interval '1 hour' where id = ${silent.nodeId}`.execute(
    db,
  );
  const worker = servicesAsRole(api.services, 'gpuaas_worker');
  const free = async (id: string): Promise<boolean> => {
    const { rows } = await sql`select id from allocations where id = ${id} for update skip locked`.execute(
      db,
    );
    return rows.length === 1;
  };
  await worker.db.transaction().execute(async (tx) => {
    await notifyHostChanges(worker, tx);
    expect([await free(quiet.id), await free(silent.id)]).toEqual([true, false]);
  });
  const events = async (id: string): Promise<string[]> => {
    const { rows } = await sql<{ event_type: string }>`select event_type from outbox_events
      where subject_id = ${id} and event_type like 'allocation.host%'`.execute(db);
    return rows.map(({ event_type }) => event_type);
  };
  expect([await events(quiet.id), await events(silent.id)]).toEqual([[], ['allocation.host_silent']]);
  await worker.db.transaction().execute((tx) => notifyHostChanges(worker, tx));
  expect(await events(silent.id)).toEqual(['allocation.host_silent']);
});
