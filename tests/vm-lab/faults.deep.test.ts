import type { ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CandidateSlot, SlotBundle, TaskKind, TaskOutput, TaskParams } from '@gpuaas/contracts/tasks';
import { buildTinyImage } from '@gpuaas/lab/vm/build-tiny-image';
import { startFakeControlPlane, type FakeControlPlane } from '@gpuaas/node-agent/testing/fake-control-plane';
import { createKeyPair } from '@gpuaas/node-agent/testing/ssh';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../harness/eventually.ts';
import { labCache, openVmHost, type VmHost } from '../harness/fleet/vm-host.ts';
import { privateAccounts } from '../harness/fleet/room-accounts.ts';
import { whyNoVmLab } from '../harness/fleet/vm-lab-needs.ts';

const obstacle = whyNoVmLab();
const TASK_MS = 240_000;

type Outcome = FakeControlPlane['outcomes'][number];
type Provision = TaskParams['slice.vm_provision'];

let platform: FakeControlPlane;
let host: VmHost;
let agent: ChildProcess;
let slots: SlotBundle[];

describe.skipIf(obstacle !== null)(`faults of a real host (${obstacle ?? 'needs nothing more'})`, () => {
  beforeAll(async () => {
    platform = await startFakeControlPlane();
    host = await openVmHost();
    agent = await startAgent();
    const found = await perform('slice.topology_discover', {});
    slots = (found.output as unknown as TaskOutput['slice.topology_discover']).candidates.map(bundleOf);
  });
  afterAll(async () => {
    await host?.close();
    await platform?.close();
  });

  it('an image with another digest is refused, and nothing was made', async () => {
    const digest = `sha256:${'ef'.repeat(32)}`;
    host.images.files[digest.replace(':', '-')] = host.image.file;
    const launch = launchOf(0, { image: { name: 'tampered', digest } });
    expect(await perform('slice.vm_provision', launch)).toMatchObject({
      error: { code: 'image_digest_mismatch', detail: expect.stringContaining(host.image.digest) },
    });
    await released(launch, 'absent');
  });

  it('a full disk ends the download with its reason', async () => {
    const images = join(host.dir, 'images');
    await host.room.run('mkdir', '-p', images);
    await host.room.run('mount', '-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', images);
    const launch = launchOf(0);
    expect(await perform('slice.vm_provision', launch)).toMatchObject({ error: { code: 'host_disk_full' } });
    await host.room.run('umount', images);
    await released(launch, 'absent');
  });

  it('a disk that a process has open is neither written nor wiped', async () => {
    const node = nodeOf(0);
    const holder = host.room.start('sh', ['-c', `exec 3< ${node}; echo open; exec sleep 600`], {});
    await once(holder.stdout!, 'data');
    const launch = launchOf(0);
    const refusal = { error: { code: 'disk_in_use', detail: expect.stringContaining('sleep (pid') } };
    expect(await perform('slice.vm_provision', launch)).toMatchObject(refusal);
    expect(await perform('slice.vm_release', releaseOf(launch))).toMatchObject(refusal);
    holder.kill('SIGKILL');
    await once(holder, 'exit');
    await released(launch, 'absent');
  });

  it('a mounted disk and one with a former tenant’s data are refused with what was found', async () => {
    const node = nodeOf(0);
    await host.room.run('mkfs.ext4', '-q', node);
    const dirty = await perform('slice.vm_provision', launchOf(0));
    expect(dirty).toMatchObject({
      error: { code: 'disk_not_clean', detail: expect.stringContaining('ext4') },
    });
    await host.room.run('mount', node, '/mnt');
    const launch = launchOf(0);
    const refusal = { error: { code: 'disk_mounted', detail: expect.stringContaining('/mnt') } };
    expect(await perform('slice.vm_provision', launch)).toMatchObject(refusal);
    expect(await perform('slice.vm_release', releaseOf(launch))).toMatchObject(refusal);
    await host.room.run('umount', '/mnt');
    expect(await perform('slice.vm_release', releaseOf(launch))).toMatchObject({
      error: { code: 'disk_not_ours', detail: expect.stringContaining('an operator must confirm its wipe') },
      output: { wipes: [] },
    });
    expect(await host.room.run('blkid', '--probe', node)).toContain('ext4');
    await released(launch, 'absent', { wipe_scope: 'all_data' });
  });

  it('a wipe that did nothing is found out by reading back', async () => {
    await host.room.run('mkfs.ext4', '-q', nodeOf(0));
    await host.room.run('mount', '--bind', '/bin/true', '/usr/sbin/blkdiscard');
    const launch = launchOf(0);
    const confirmed = { ...releaseOf(launch), wipe_scope: 'all_data' as const };
    expect(await perform('slice.vm_release', confirmed)).toMatchObject({
      error: {
        code: 'wipe_not_verified',
        detail: expect.stringMatching(/data at byte \d+; signatures: ext4/),
      },
      output: { wipes: [{ verified: false }] },
    });
    await host.room.run('umount', '/usr/sbin/blkdiscard');
    await released(launch, 'absent', { wipe_scope: 'all_data', wipe_method: 'overwrite' });
  });

  it('a host without its bridge, or without DHCP, makes nothing', async () => {
    const { room } = host;
    await room.run('ovs-vsctl', 'del-br', 'ovsbr0');
    expect(await perform('slice.vm_provision', launchOf(0))).toMatchObject({
      error: { code: 'bridge_missing' },
    });
    await host.bringUpBridge();
    const pid = (await room.run('cat', join(host.dir, 'dhcp/dnsmasq.pid'))).trim();
    await room.run('kill', pid);
    expect(await perform('slice.vm_provision', launchOf(0))).toMatchObject({
      error: { code: 'network_not_ready', detail: expect.stringContaining('dnsmasq') },
    });
    await host.startDhcp();
  });

  it('an agent killed at every step, over a guest that ignores the power button: one machine, then none', async () => {
    const stubborn = buildTinyImage({ cache: labCache(), ignoresPowerButton: true });
    host.images.files[stubborn.digest.replace(':', '-')] = stubborn.file;
    const launch = launchOf(0, { image: { name: 'stubborn', digest: stubborn.digest } });
    const stages = ['plan', 'image', 'seed', 'vm', 'network', 'readiness'];
    const provisioned = await performThroughCrashes('slice.vm_provision', launch, stages);
    expect(provisioned).toMatchObject({
      outcome: 'succeeded',
      output: { network: { lease_state: 'bound' } },
    });
    const machines = await host.room.run(
      'pgrep',
      '--count',
      '--full',
      `guest=gpuaas-${launch.allocation_id}`,
    );
    expect(machines.trim()).toBe('1');
    const released = await performThroughCrashes('slice.vm_release', releaseOf(launch, 3), [
      'stop',
      'network_cleanup',
      'wipe',
      'verify',
    ]);
    expect(released).toMatchObject({
      outcome: 'succeeded',
      output: { vm_absent: true, network_clean: true, wipes: [{ verified: true }] },
    });
    await blank();
  }, 500_000);

  it('a machine that ran before the host was booted again runs again, behind its guard', async () => {
    const launch = launchOf(1);
    expect(await perform('slice.vm_provision', launch)).toMatchObject({ outcome: 'succeeded' });
    const { room } = host;
    agent.kill('SIGKILL');
    const name = `gpuaas-${launch.allocation_id}`;
    await room.run('virsh', '--quiet', '--connect', 'qemu:///system', 'destroy', name);
    await room.run('nft', 'delete', 'table', 'inet', 'gpuaas');
    await room.run('ovs-ofctl', 'del-flows', 'ovsbr0');
    const note = join(host.dir, 'slices', launch.allocation_id, 'started.json');
    const before = JSON.parse(readFileSync(note, 'utf8')) as { started_at: string };
    writeFileSync(note, JSON.stringify({ ...before, bootId: 'the boot before' }));
    await room.run('ovs-ofctl', 'add-flow', 'ovsbr0', 'priority=0,actions=NORMAL');
    agent = await startAgent();
    await eventually('the machine', async () => (seen(launch) ? true : null), TASK_MS);
    expect(platform.heartbeats.at(-1)?.vms[0]?.started_at).not.toBe(before.started_at);
    expect(await room.run('ovs-ofctl', 'dump-flows', 'ovsbr0')).toContain(`nw_src=${slots[1]!.private_ip}`);
    expect(await room.run('nft', 'list', 'table', 'inet', 'gpuaas')).toContain(slots[1]!.private_ip);
    await eventuallyReleased(launch);
  }, 500_000);

  it('libvirtd killed while a machine comes up: it comes up, heartbeats see it, and its release waits for the daemon', async () => {
    const launch = launchOf(1);
    const { task } = platform.queue('slice.vm_provision', launch);
    const started = (): boolean =>
      platform.progress.some(({ task_id, stage }) => task_id === task.task_id && stage === 'network');
    await eventually('the machine', async () => (started() && seen(launch) ? true : null), TASK_MS);
    await host.room.run('pkill', '--signal', 'KILL', '--exact', 'libvirtd');
    const before = platform.heartbeats.length;
    await eventually('two beats', async () => (platform.heartbeats.length > before + 1 ? true : null));
    expect(seen(launch)).toBe(true);
    const outcome = await eventually('the outcome', async () => outcomeOf(task.task_id), TASK_MS);
    expect(outcome).toMatchObject({ outcome: 'succeeded' });
    // The release starts while the daemon is away and finds it again.
    const { task: release } = platform.queue('slice.vm_release', releaseOf(launch, 60));
    await host.room.startLibvirt();
    expect(await eventually('the release', async () => outcomeOf(release.task_id), TASK_MS)).toMatchObject({
      outcome: 'succeeded',
      output: { stop: 'graceful', network_clean: true, wipes: [{ verified: true }] },
    });
    await blank();
  }, 500_000);

  it('the tenant of the whole host: a login without power, and nothing of it afterwards', async () => {
    const { room } = host;
    await privateAccounts(host);
    const lease = { allocation_id: randomUUID(), username: 'lease-1' };
    const { granted, ssh } = await leaseHost(lease);
    expect(granted).toMatchObject({ outcome: 'succeeded', output: { privileged: false } });
    expect(await ssh('id -un; touch /etc/mine 2>&1 || true')).toMatch(/^lease-1\n.*Permission denied/);
    await expect(ssh('sudo --non-interactive id')).rejects.toThrow(/password is required|not allowed/);
    await ssh(
      'mkdir /dev/shm/mine; echo data > "/dev/shm/mine/a\nb"; ipcmk -Q; (trap "" TERM; nohup sleep 900 > /dev/null 2>&1 &)',
    );

    const foreign = { ...lease, allocation_id: randomUUID(), stop_timeout_seconds: 1 };
    expect(await perform('allocation.deprovision_user', foreign)).toMatchObject({
      error: { code: 'slot_leased' },
    });
    const gone = await perform('allocation.deprovision_user', { ...lease, stop_timeout_seconds: 1 });
    expect(gone).toMatchObject({ outcome: 'succeeded', output: { user_absent: true, leftovers: [] } });
    await expect(room.run('getent', 'passwd', 'lease-1')).rejects.toThrow();
    expect(await room.run('ls', '/dev/shm')).not.toContain('mine');
    expect(await room.run('ps', '-eo', 'args')).not.toContain('sleep 900');
  }, 500_000);

  it('the tenant of the whole host with root: sudo lets it in, and not once the lease has ended', async () => {
    const { room } = host;
    const lease = { allocation_id: randomUUID(), username: 'lease-2' };
    const { granted, ssh } = await leaseHost({ ...lease, root: true });
    expect(granted).toMatchObject({ outcome: 'succeeded', output: { privileged: true } });
    expect(await ssh('sudo --non-interactive id -u; sudo --non-interactive touch /etc/mine')).toBe('0\n');
    expect(await room.run('stat', '--format=%U %a', '/etc/sudoers.d/gpuaas-lease-2')).toBe('root 440\n');
    const gone = await perform('allocation.deprovision_user', { ...lease, stop_timeout_seconds: 1 });
    expect(gone).toMatchObject({ outcome: 'succeeded', output: { user_absent: true, leftovers: [] } });
    expect(await room.run('ls', '/etc/sudoers.d')).not.toContain('lease-2');
  }, 500_000);
});

/** The host in one tenant's hands, and that tenant's way in. */
async function leaseHost(lease: { allocation_id: string; username: string; root?: boolean }) {
  const pair = createKeyPair();
  const granted = await perform('allocation.provision_user', {
    ...lease,
    hostname: 'whole-host',
    ssh_authorized_keys: [pair.public],
  });
  const key = join(host.dir, 'lease-key');
  writeFileSync(key, pair.private, { mode: 0o600 });
  const options = ['StrictHostKeyChecking=no', 'UserKnownHostsFile=/dev/null', 'BatchMode=yes'];
  const words = ['-q', '-i', key, ...options.flatMap((option) => ['-o', option])];
  const ssh = (command: string): Promise<string> =>
    host.room.run('ssh', ...words, `${lease.username}@127.0.0.1`, command);
  return { granted, ssh };
}

async function eventuallyReleased(launch: Provision): Promise<void> {
  const outcome = await perform('slice.vm_release', releaseOf(launch, 20));
  expect(outcome).toMatchObject({
    outcome: 'succeeded',
    output: { network_clean: true, wipes: [{ verified: true }] },
  });
  await blank();
}

async function startAgent(crashAt = ''): Promise<ChildProcess> {
  const env = { GPUAAS_AGENT_TOKEN: platform.token(), GPUAAS_AGENT_CRASH_AT: crashAt };
  const beats = platform.heartbeats.length;
  const started = await host.startAgent(platform.url, env);
  await eventually(
    'a heartbeat',
    async () => (platform.heartbeats.length > beats + 1 ? true : null),
    TASK_MS,
  );
  return started;
}

async function perform<K extends TaskKind>(kind: K, params: TaskParams[K]): Promise<Outcome> {
  const { task } = platform.queue(kind, params);
  return await eventually(kind, async () => outcomeOf(task.task_id), TASK_MS);
}

/** Repeats a task with agents that die on entering the next stage. */
async function performThroughCrashes<K extends TaskKind>(
  kind: K,
  params: TaskParams[K],
  stages: readonly string[],
): Promise<Outcome> {
  const same = { task_id: randomUUID(), nonce: randomUUID() };
  let epoch = 0;
  for (const stage of stages) {
    agent.kill('SIGKILL');
    await eventually('the end of the agent', async () => (isGone(agent) ? true : null));
    agent = await startAgent(`${kind}:${stage}`);
    platform.queue(kind, params, { ...same, epoch: (epoch += 1) });
    await eventually(`death at ${stage}`, async () => (isGone(agent) ? true : null), TASK_MS);
  }
  agent = await startAgent();
  platform.queue(kind, params, { ...same, epoch: epoch + 1 });
  return await eventually(kind, async () => outcomeOf(same.task_id), TASK_MS);
}

function isGone({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

function outcomeOf(taskId: string): Outcome | null {
  return platform.outcomes.find((outcome) => outcome.task_id === taskId) ?? null;
}

function seen({ allocation_id }: Provision): boolean {
  const vms = platform.heartbeats.at(-1)?.vms ?? [];
  return vms.some((vm) => vm.allocation_id === allocation_id && vm.state === 'running');
}

/** Proves that the previous steps left nothing behind. */
async function released(
  launch: Provision,
  stop: string,
  change: Partial<TaskParams['slice.vm_release']> = {},
): Promise<void> {
  expect(await perform('slice.vm_release', { ...releaseOf(launch), ...change })).toMatchObject({
    outcome: 'succeeded',
    output: { vm_absent: true, stop, network_clean: true, wipes: [{ verified: true }] },
  });
}

async function blank(): Promise<void> {
  for (const { node, sizeBytes } of host.room.disks) {
    await host.room.run('cmp', '--bytes', String(sizeBytes), node, '/dev/zero');
  }
  expect((await host.room.run('ovs-vsctl', 'list-ports', 'ovsbr0')).trim()).toBe('');
}

function nodeOf(index: number): string {
  return host.room.disks[index]!.node;
}

function launchOf(index: number, change: Partial<Provision> = {}): Provision {
  return {
    allocation_id: randomUUID(),
    hostname: 'train-01',
    image: { name: 'tiny', digest: host.image.digest },
    slots: [slots[index]!],
    vcpu: 1,
    memory_gib: 1,
    username: 'ubuntu',
    ssh_authorized_keys: [createKeyPair().public],
    readiness_checks: [],
    ...change,
  };
}

function releaseOf({ allocation_id, slots: held }: Provision, stop_timeout_seconds = 10) {
  return { allocation_id, slots: held, wipe_method: 'blkdiscard' as const, stop_timeout_seconds };
}

function bundleOf(candidate: CandidateSlot): SlotBundle {
  const { slot_index, gpu_pci_address, management_mac, private_ip, ovs_port, numa_node } = candidate;
  return {
    slot_id: randomUUID(),
    slot_index,
    gpu_pci_address,
    fabric_vf_pci_address: candidate.fabric_vf_pci_address!,
    nvme_serial: candidate.nvme_serial!,
    nvme_device: candidate.nvme_device!,
    management_mac,
    private_ip,
    ovs_port,
    numa_node,
  };
}
