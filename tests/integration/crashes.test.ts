import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { unwrap } from '@gpuaas/sdk/problem';
import { launch, release, waitForState } from '../harness/allocations.ts';
import { startTestPlatform, type TestPlatform, type TestPlatformOptions } from '../harness/platform.ts';

let platform: TestPlatform;
afterEach(() => platform?.stop());

async function start(options: TestPlatformOptions): Promise<void> {
  // One engine per process: these tests start many platforms, so the workers are processes of their own.
  platform = await startTestPlatform({ nodes: 1, runWorker: false, ...options });
}

async function startWithWorker(options: TestPlatformOptions): Promise<void> {
  await start(options);
  platform.spawnWorker();
}

/** One machine was delivered, one wipe was recorded, nothing is left claimed. */
async function expectCleanEnd(allocationId: string): Promise<void> {
  await release(platform.member, allocationId);
  await waitForState(platform.member, allocationId, 'released');
  const certificates = await unwrap(
    platform.member.GET('/api/v1/allocations/{allocation_id}/wipe-certificates', {
      params: { path: { allocation_id: allocationId } },
    }),
  );
  expect(certificates.items.map((item) => item.verified)).toEqual([true]);
  const claims = await platform.services.db.selectFrom('claim_cells').select('cell').execute();
  expect(claims).toEqual([]);
  const tasks = await platform.services.db
    .selectFrom('node_tasks')
    .select(['kind', 'state'])
    .where('allocation_id', '=', allocationId)
    .orderBy('created_at')
    .execute();
  expect(tasks).toEqual([
    { kind: 'slice.vm_provision', state: 'succeeded' },
    { kind: 'slice.vm_release', state: 'succeeded' },
  ]);
}

describe('kill -9 of a worker', () => {
  it.each([
    'provision.begin:after',
    'provision.issue:before',
    'provision.issue:after',
    'provision.activate:before',
  ])(
    'at %s: another worker finishes the launch',
    async (point) => {
      await start({});
      const marker = join(platform.dataDir, 'worker-crashed');
      const doomed = platform.spawnWorker({ GPUAAS_CRASH_AT: point, GPUAAS_CRASH_MARKER: marker });
      const allocation = await launch(platform.member, platform.projectId, 1);
      await new Promise((resolve) => doomed.once('exit', resolve));
      expect(doomed.signalCode).toBe('SIGKILL');
      expect(existsSync(marker)).toBe(true);
      platform.spawnWorker();
      await waitForState(platform.member, allocation.id, 'active');
      await expectCleanEnd(allocation.id);
    },
    120_000,
  );
});

describe('kill -9 of an agent', () => {
  it.each(['slice.vm_provision:image', 'slice.vm_provision:vm', 'slice.vm_provision:readiness'])(
    'at %s: it comes back and delivers one machine',
    async (point) => {
      await startWithWorker({ agentEnv: { GPUAAS_AGENT_CRASH_AT: point } });
      const allocation = await launch(platform.member, platform.projectId, 1);
      await waitForState(platform.member, allocation.id, 'active', 90_000);
      const task = await platform.services.db
        .selectFrom('node_tasks')
        .select('epoch')
        .where('allocation_id', '=', allocation.id)
        .executeTakeFirstOrThrow();
      expect(task.epoch).toBeGreaterThan(1);
      await expectCleanEnd(allocation.id);
    },
    120_000,
  );
});

describe('a wipe that cannot be verified', () => {
  it('quarantines the slot, stops the meter and says so', async () => {
    await startWithWorker({ faults: 'wipe_fails' });
    const allocation = await launch(platform.member, platform.projectId, 1);
    await waitForState(platform.member, allocation.id, 'active');
    await release(platform.member, allocation.id);
    const failed = await waitForState(platform.member, allocation.id, 'release_failed');
    expect(failed.failure?.code).toBe('wipe_not_verified');
    expect(failed.release_requested_at).not.toBeNull();
    const nodes = await unwrap(platform.operator.GET('/api/v1/admin/nodes'));
    expect(nodes.items[0]?.slot_counts).toMatchObject({ available: 7, cleanup_blocked: 1 });
  }, 120_000);
});

describe('a machine that never boots', () => {
  it('fails with a reason, is wiped by itself and its slots return', async () => {
    await startWithWorker({ faults: 'vm_never_boots' });
    const allocation = await launch(platform.member, platform.projectId, 1);
    const failed = await waitForState(platform.member, allocation.id, 'failed');
    expect(failed.failure?.detail).toBeTruthy();
    expect(failed.cost_so_far.micros).toBe(0);
    await expect
      .poll(
        async () =>
          (await unwrap(platform.operator.GET('/api/v1/admin/nodes'))).items[0]?.slot_counts.available,
        {
          timeout: 30_000,
        },
      )
      .toBe(8);
  }, 120_000);
});
