import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { unwrap } from '@gpuaas/sdk/problem';
import { launch, release, waitForState } from '../../harness/allocations/allocations.ts';
import { startTestPlatform, type TestPlatform, type TestPlatformOptions } from '../../harness/platform.ts';

/** The platform of the test that runs; it stops with it. */
export let platform: TestPlatform;
afterEach(() => platform?.stop());

async function start(options: TestPlatformOptions): Promise<void> {
  // One engine per process: these tests start many platforms, so the workers are separate processes.
  platform = await startTestPlatform({ nodes: 1, runWorker: false, ...options });
}

export async function startWithWorker(options: TestPlatformOptions): Promise<void> {
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

export function describeWorkerKills(points: string[]): void {
  describe('kill -9 of a worker', () => {
    it.each(points)(
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
      300_000,
    );
  });
}

export function describeAgentKills(points: string[]): void {
  describe('kill -9 of an agent', () => {
    it.each(points)(
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
      300_000,
    );
  });
}
