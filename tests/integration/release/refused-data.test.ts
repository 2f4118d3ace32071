import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { unwrap } from '@gpuaas/sdk/problem';
import { launch, waitForState } from '../../harness/allocations/allocations.ts';
import { startTestPlatform, type TestPlatform } from '../../harness/platform.ts';

let platform: TestPlatform;
beforeAll(async () => {
  platform = await startTestPlatform({ nodes: 1 });
});
afterAll(() => platform?.stop());

async function host() {
  const { items } = await unwrap(platform.operator.GET('/api/v1/admin/nodes'));
  return items[0]!;
}

const queue = async () => (await unwrap(platform.operator.GET('/api/v1/admin/cleanup-queue'))).items;

/** All eight slots fail to launch, so that the slot with the foreign disk is among them. */
async function failedLaunch(): Promise<string> {
  const { id } = await launch(platform.member, platform.projectId, 8);
  await waitForState(platform.member, id, 'failed');
  await expect
    .poll(async () => (await queue()).map(({ running }) => running), { timeout: 60_000 })
    .toEqual(Array.from({ length: 8 }, () => false));
  return id;
}

async function confirm(destroy_foreign_data: boolean): Promise<void> {
  const slot_ids = (await queue()).map(({ slot }) => slot.id);
  await unwrap(
    platform.operator.POST('/api/v1/admin/cleanup-queue/retry-many', {
      body: { slot_ids, destroy_foreign_data },
    }),
  );
}

async function setFaults(faults: string): Promise<void> {
  await writeFile(join(platform.dataDir, 'hosts', (await host()).hostname, 'faults'), faults);
}

it('leaves data of another use until an operator confirms that it is destroyed', async () => {
  const { hostname } = await host();
  const slot = await platform.services.db
    .selectFrom('node_resource_slots')
    .select(['id', 'nvme_serial'])
    .where('slot_index', '=', 3)
    .executeTakeFirstOrThrow();
  const disk = join(platform.dataDir, 'hosts', hostname, 'disks', slot.nvme_serial);
  await mkdir(disk, { recursive: true });
  await writeFile(join(disk, 'share.img'), 'the operator’s own');

  await failedLaunch();
  expect((await host()).slot_counts).toMatchObject({ available: 0, cleanup_blocked: 8 });
  expect(await readdir(disk)).toEqual(['share.img']);

  await confirm(false);
  await expect
    .poll(
      async () =>
        (await queue()).find((one) => one.slot.id === slot.id && !one.running)?.slot.health_detail ?? '',
      { timeout: 60_000 },
    )
    .toContain('did not write');
  expect(await readdir(disk)).toEqual(['share.img']);

  await confirm(true);
  await expect.poll(async () => (await host()).slot_counts.available, { timeout: 60_000 }).toBe(8);
  expect(await readdir(disk)).toEqual([]);
});

it('stops the machine of a failed launch and leaves its disks until an operator confirms the wipe', async () => {
  await setFaults('vm_never_boots');
  const id = await failedLaunch();
  const { db } = platform.services;
  const releases = async () =>
    (
      await db
        .selectFrom('node_tasks')
        .select(['state', 'params', 'output'])
        .where('subject_id', '=', id)
        .where('kind', '=', 'slice.vm_release')
        .orderBy('created_at')
        .execute()
    ).map(({ state, params, output }) => ({
      state,
      scope: (params as { wipe_scope?: string }).wipe_scope,
      output,
    }));
  expect(await releases()).toMatchObject([
    { state: 'succeeded', scope: 'nothing', output: { vm_absent: true, wipes: [] } },
  ]);
  await setFaults('');
  await confirm(false);
  await expect.poll(async () => (await host()).slot_counts.available, { timeout: 60_000 }).toBe(8);
  expect((await releases()).at(-1)).toMatchObject({ state: 'succeeded', scope: undefined });
});

it('wipes what a failed launch wrote without asking, if operators confirmed that by policy', async () => {
  const path = { policy_name: 'allocations.wipe_after_failed_launch' };
  await unwrap(
    platform.operator.PUT('/api/v1/admin/policies/{policy_name}', {
      params: { path },
      body: { value: true },
    }),
  );
  await setFaults('vm_never_boots');
  const { id } = await launch(platform.member, platform.projectId, 8);
  await waitForState(platform.member, id, 'failed');
  await expect.poll(async () => (await host()).slot_counts.available, { timeout: 60_000 }).toBe(8);
  await setFaults('');
});
