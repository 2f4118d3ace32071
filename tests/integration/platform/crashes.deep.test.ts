import { describe, expect, it } from 'vitest';
import { unwrap } from '@gpuaas/sdk/problem';
import { launch, release, waitForState } from '../../harness/allocations/allocations.ts';
import { describeAgentKills, describeWorkerKills, platform, startWithWorker } from './kill-cases.ts';

describeWorkerKills(['provision.begin:after', 'provision.issue:before', 'provision.activate:before']);
describeAgentKills(['slice.vm_provision:image', 'slice.vm_provision:vm', 'slice.vm_provision:readiness']);

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
  it('fails with a reason, waits for an operator, is wiped and its slots return', async () => {
    await startWithWorker({ faults: 'vm_never_boots' });
    const allocation = await launch(platform.member, platform.projectId, 1);
    const failed = await waitForState(platform.member, allocation.id, 'failed');
    expect(failed.failure?.detail).toBeTruthy();
    expect(failed.cost_so_far.micros).toBe(0);
    const queue = async () => (await unwrap(platform.operator.GET('/api/v1/admin/cleanup-queue'))).items;
    await expect
      .poll(async () => (await queue()).map(({ running }) => running), { timeout: 30_000 })
      .toEqual([false]);
    const [blocked] = await queue();
    const path = { slot_id: blocked!.slot.id };
    await unwrap(platform.operator.POST('/api/v1/admin/cleanup-queue/{slot_id}/retry', { params: { path } }));
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
