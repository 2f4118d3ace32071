import { once } from 'node:events';
import { approveFleet } from '@gpuaas/lab/approve-fleet';
import { unwrap } from '@gpuaas/sdk/problem';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { launch, release, waitForState } from '../harness/allocations/allocations.ts';
import { eventually } from '../harness/eventually.ts';
import { startTestPlatform, type TestPlatform } from '../harness/platform.ts';
import { whyNoVmLab } from '../harness/fleet/vm-lab-needs.ts';
import { openVmHost, VM_HOSTNAME, type VmHost } from '../harness/fleet/vm-host.ts';
import { blessImage, mintToken, sellTinyMachines } from './lab-steps.ts';

const obstacle = whyNoVmLab();
const MACHINE_MS = 240_000;

let platform: TestPlatform;
let host: VmHost;
let nodeId: string;

/** Operators see faults of the host in the platform, and bring the slot back from there. */
describe.skipIf(obstacle !== null)(`evidence of a real host (${obstacle ?? 'needs nothing more'})`, () => {
  beforeAll(async () => {
    [platform, host] = await Promise.all([startTestPlatform({ nodes: 0 }), openVmHost()]);
    const { operator } = platform;
    // Each fault happens once, and only the operator retries.
    for (const [policy_name, value] of [
      ['allocations.provision_attempts', 1],
      ['allocations.wipe_attempts', 1],
    ] as const)
      await unwrap(
        operator.PUT('/api/v1/admin/policies/{policy_name}', {
          params: { path: { policy_name } },
          body: { value, reason: 'One attempt shows it.' },
        }),
      );
    await sellTinyMachines(platform, host.image.digest);
    await host.startAgent(platform.nodeUrl, { GPUAAS_AGENT_TOKEN: await mintToken(platform) });
    nodeId = await eventually('the host', async () => {
      const { items } = await unwrap(operator.GET('/api/v1/admin/nodes'));
      return items.find((one) => one.hostname === VM_HOSTNAME && one.connection === 'connected')?.id;
    });
    await approveFleet(operator, { info: () => undefined, warn: () => undefined });
  });
  afterAll(async () => {
    await host?.close();
    await platform?.stop();
  });

  it('an image with another digest: the launch fails with both digests, and the slot returns when the operator confirms', async () => {
    const digest = `sha256:${'ef'.repeat(32)}`;
    host.images.files[digest.replace(':', '-')] = host.image.file;
    await blessImage(platform, digest);
    const failure = await failedLaunch();
    await blessImage(platform, host.image.digest);
    expect(failure).toMatchObject({ code: 'image_digest_mismatch' });
    for (const one of [digest, host.image.digest]) expect(failure.detail).toContain(one);
    const [blocked] = await quarantine();
    await tryAgain(blocked!.slot.id);
    await allAvailable();
  });

  it('a disk in use: the slot is quarantined and names who uses it, until the operator tries again', async () => {
    const nodes = host.room.disks.map(({ node }) => node);
    const open = nodes.map((node, index) => `exec ${index + 3}< ${node}`).join('; ');
    const holder = host.room.start('sh', ['-c', `${open}; echo open; exec sleep 900`], {});
    await once(holder.stdout!, 'data');
    expect(await failedLaunch()).toMatchObject({
      code: 'disk_in_use',
      detail: expect.stringContaining('sleep (pid'),
    });
    const [blocked] = await quarantine();
    expect(blocked!.slot.health_detail).toContain('sleep (pid');
    holder.kill('SIGKILL');
    await once(holder, 'exit');
    await tryAgain(blocked!.slot.id);
    await allAvailable();
  });

  it('a bridge that is gone: the launch fails and says so, and the slot returns with the bridge', async () => {
    await host.room.run('ovs-vsctl', 'del-br', 'ovsbr0');
    expect(await failedLaunch()).toMatchObject({
      code: 'bridge_missing',
      detail: expect.stringContaining('ovsbr0'),
    });
    const blocked = await quarantine();
    await host.bringUpBridge();
    for (const { slot } of blocked) await tryAgain(slot.id);
    await allAvailable();
  });

  it('a wipe that did nothing: the release fails, the slot is quarantined with what was read, and wiped at last', async () => {
    const { member, projectId } = platform;
    const { id } = await launch(member, projectId, 1);
    await waitForState(member, id, 'active', MACHINE_MS).catch((error: unknown) => {
      throw new Error(`${String(error)}\n${host.log()}\n${host.consoleOf(id)}`);
    });
    await host.room.run('mount', '--bind', '/bin/true', '/usr/sbin/blkdiscard');
    await release(member, id);
    await waitForState(member, id, 'release_failed', MACHINE_MS);
    const [blocked] = await quarantine();
    expect(blocked).toMatchObject({ allocation: { id, state: 'release_failed' } });
    expect(blocked!.slot.health_detail).toMatch(/data at byte \d+/);
    expect(blocked!.certificates.every(({ verified }) => !verified)).toBe(true);
    const incidents = await unwrap(
      platform.operator.GET('/api/v1/admin/incidents', { params: { query: { state: 'open' } } }),
    );
    expect(incidents.items.map(({ type }) => type)).toContain('allocation_release_failed');
    await host.room.run('umount', '/usr/sbin/blkdiscard');
    await tryAgain(blocked!.slot.id);
    await waitForState(member, id, 'released', MACHINE_MS);
    await allAvailable();
  });
});

/** The operator's view of the failed task. The tenant sees its code, and nothing of the host. */
async function failedLaunch() {
  const { id } = await launch(platform.member, platform.projectId, 1);
  const { failure } = await waitForState(platform.member, id, 'failed', MACHINE_MS);
  const query = { subject_type: 'allocation' as const, subject_id: id, kind: 'slice.vm_provision' as const };
  const { items } = await unwrap(platform.operator.GET('/api/v1/admin/tasks', { params: { query } }));
  const error = items[0]?.error;
  if (!error) throw new Error(`no task of ${id} says what failed`);
  expect(failure?.code).toBe(error.code);
  return error;
}

async function quarantine() {
  return await eventually(
    'the quarantine to rest',
    async () => {
      const { items } = await unwrap(platform.operator.GET('/api/v1/admin/cleanup-queue'));
      return items.length > 0 && items.every(({ running }) => !running) ? items : null;
    },
    MACHINE_MS,
  );
}

async function tryAgain(slot_id: string): Promise<void> {
  await unwrap(
    platform.operator.POST('/api/v1/admin/cleanup-queue/{slot_id}/retry', { params: { path: { slot_id } } }),
  );
}

async function allAvailable(): Promise<void> {
  const params = { path: { node_id: nodeId } };
  const counts = async () =>
    (await unwrap(platform.operator.GET('/api/v1/admin/nodes/{node_id}', { params }))).slot_counts;
  await expect
    .poll(counts, { timeout: MACHINE_MS, interval: 300 })
    .toMatchObject({ available: 2, cleanup_blocked: 0 });
}
