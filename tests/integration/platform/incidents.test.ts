import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { overdueAllocations } from '@gpuaas/control-plane/domains/allocations/overdue-allocations';
import { unwrap } from '@gpuaas/sdk/problem';
import { launch, release, waitForState } from '../../harness/allocations/allocations.ts';
import { startTestPlatform, type TestPlatform } from '../../harness/platform.ts';

let platform: TestPlatform;
beforeAll(async () => {
  platform = await startTestPlatform({ nodes: 1, faults: 'wipe_fails' });
});
afterAll(() => platform?.stop());

async function incidents(state: 'open' | 'resolved') {
  const { items } = await unwrap(
    platform.operator.GET('/api/v1/admin/incidents', { params: { query: { state } } }),
  );
  return items.toSorted((a, b) => a.type.localeCompare(b.type));
}

async function setFaults(faults: string): Promise<void> {
  const { items } = await unwrap(platform.operator.GET('/api/v1/admin/nodes'));
  for (const node of items) await writeFile(join(platform.dataDir, 'hosts', node.hostname, 'faults'), faults);
}

it('a wipe that cannot be proven opens incidents, which close when a later one is', async () => {
  const { member, operator, projectId } = platform;
  const allocation = await launch(member, projectId, 1);
  await waitForState(member, allocation.id, 'active');
  await release(member, allocation.id);
  await waitForState(member, allocation.id, 'release_failed');
  const open = await incidents('open');
  expect(open.map(({ type, target_type, state }) => ({ type, target_type, state }))).toEqual([
    { type: 'allocation_release_failed', target_type: 'allocation', state: 'open' },
    { type: 'slot_cleanup_blocked', target_type: 'slot', state: 'open' },
  ]);
  expect(open[0]?.target_id).toBe(allocation.id);

  const path = { incident_id: open[0]!.id };
  const acknowledged = await unwrap(
    operator.POST('/api/v1/admin/incidents/{incident_id}/acknowledge', { params: { path } }),
  );
  expect(acknowledged).toMatchObject({ state: 'acknowledged', runbook: open[0]?.runbook });

  await setFaults('');
  await release(member, allocation.id);
  await waitForState(member, allocation.id, 'released');
  expect(await incidents('open')).toEqual([]);
  const resolved = await incidents('resolved');
  expect(resolved.map((incident) => incident.resolved_by)).toEqual([null, null]);
});

it('an operator’s retry of a wipe runs to the end, and the slot is for sale again', async () => {
  const { member, operator, projectId } = platform;
  await setFaults('wipe_fails');
  const allocation = await launch(member, projectId, 1);
  await waitForState(member, allocation.id, 'active');
  await release(member, allocation.id);
  await waitForState(member, allocation.id, 'release_failed');
  const queue = async () => (await unwrap(operator.GET('/api/v1/admin/cleanup-queue'))).items;
  const [blocked] = await queue();
  expect(blocked).toMatchObject({ slot: { allocation_id: allocation.id, state: 'cleanup_blocked' } });

  await setFaults('');
  const path = { slot_id: blocked!.slot.id };
  await unwrap(operator.POST('/api/v1/admin/cleanup-queue/{slot_id}/retry', { params: { path } }));
  await waitForState(member, allocation.id, 'released');
  expect(await queue()).toEqual([]);
  const slot = await platform.services.db
    .selectFrom('node_resource_slots')
    .select('state')
    .where('id', '=', blocked!.slot.id)
    .executeTakeFirst();
  expect(slot).toEqual({ state: 'available' });
});

it('an allocation is overdue when it has been too long in a state that only a workflow can leave', async () => {
  const { member, projectId, services } = platform;
  const { db } = services;
  const { id } = await launch(member, projectId, 1);
  const active = await waitForState(member, id, 'active');
  const setState = (state: 'active' | 'releasing') =>
    db.updateTable('allocations').set({ state }).where('id', '=', id).execute();
  const inHours = (hours: number): Date => new Date(Date.now() + hours * 3_600_000);
  expect(await overdueAllocations(services, inHours(24), 10)).toEqual([]);
  await setState('releasing');
  expect(await overdueAllocations(services, inHours(0.5), 10)).toEqual([]);
  const [overdue] = await overdueAllocations(services, inHours(2), 10);
  expect(overdue).toMatchObject({ allocationId: id, state: 'releasing' });
  expect(overdue!.since.getTime()).toBeGreaterThan(new Date(active.created_at).getTime());
  await setState('active');
});

it('tenants see no incidents and manage none', async () => {
  const { admin } = platform;
  const [incident] = await incidents('resolved');
  await expect(unwrap(admin.GET('/api/v1/admin/incidents'))).rejects.toMatchObject({ code: 'forbidden' });
  const refused = unwrap(
    admin.POST('/api/v1/admin/incidents/{incident_id}/resolve', {
      params: { path: { incident_id: incident!.id } },
      body: { resolution: 'mine' },
    }),
  );
  await expect(refused).rejects.toMatchObject({ code: 'forbidden' });
});
