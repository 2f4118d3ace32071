import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TaskParams } from '@gpuaas/contracts/tasks';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { writeMode } from '../host/simulated/mode-file.ts';
import { HOSTNAME, openTestHost, type TestHost } from '../testing/simulated-host.ts';
import { provisionParams } from '../testing/slots.ts';
import { createKeyPair } from '../testing/ssh.ts';
import { planVm } from '../slices/plan-vm.ts';
import { provisionSliceVm } from './slice-vm-provision.ts';
import { releaseSliceVm } from './slice-vm-release.ts';

// Real processes on a busy machine.
vi.setConfig({ testTimeout: 20_000 });

type Provision = TaskParams['slice.vm_provision'];

let machine: TestHost;
beforeEach(async () => {
  machine = await openTestHost();
});
afterEach(() => machine.close());

function launch(slots: number[]): Provision {
  return provisionParams(HOSTNAME, slots, [createKeyPair().public]);
}

async function provision(params: Provision) {
  return await provisionSliceVm(params, machine, machine.context);
}

type Scope = NonNullable<TaskParams['slice.vm_release']['wipe_scope']>;

async function release({ allocation_id, slots }: Provision, wipe_scope?: Scope) {
  const params = { allocation_id, slots, wipe_method: 'blkdiscard' as const, stop_timeout_seconds: 5 };
  return await releaseSliceVm({ ...params, ...(wipe_scope && { wipe_scope }) }, machine, machine.context);
}

function disk(params: Provision): string {
  return join(machine.dir, 'disks', params.slots[0]?.nvme_serial ?? '');
}

describe('provisioning', () => {
  it('a second run finds the planned VM and continues with the readiness checks', async () => {
    const params = launch([0]);
    const first = await provision(params);
    machine.stages.length = 0;
    expect(await provision(params)).toEqual(first);
    expect(machine.stages).toEqual(['plan', 'network', 'readiness']);
  });

  it('returns the concrete plan of the bundle', async () => {
    const params = launch([1, 0]);
    const { plan } = await provision(params);
    const [second, boot] = params.slots.toSorted((a, b) => b.slot_index - a.slot_index);
    expect(plan).toMatchObject({
      vcpu: 48,
      memory_gib: 480,
      image_digest: params.image.digest,
      boot_disk_serial: boot?.nvme_serial,
      slots: [
        { slot_id: boot?.slot_id, gpu_pci_address: '0000:1b:00.0', fabric_vf_pci_address: '0000:18:00.1' },
        { slot_id: second?.slot_id, gpu_pci_address: '0000:43:00.0', nvme_serial: second?.nvme_serial },
      ],
    });
  });

  it('refuses devices that are not bound for slices, and keeps no lease', async () => {
    await writeMode(machine.dir, 'baremetal');
    await expect(provision(launch([0]))).rejects.toMatchObject({
      code: 'device_not_bound',
      message: '0000:1b:00.0 is bound to nvidia, not to vfio-pci',
    });
    expect(await machine.leases.list()).toEqual([]);
  });

  it('refuses a slot that another allocation holds, and touches nothing', async () => {
    await provision(launch([0]));
    const rival = launch([0, 1]);
    const held = (await machine.leases.list())[0];
    if (rival.slots[0] && held) rival.slots[0].slot_id = held.slot_id;
    await expect(provision(rival)).rejects.toMatchObject({ code: 'slot_leased' });
    expect(await machine.leases.list()).toHaveLength(1);
  });

  it('refuses a bundle that does not match the hardware', async () => {
    const params = launch([2]);
    if (params.slots[0]) params.slots[0].nvme_serial = 'BTLA00000000';
    await expect(provision(params)).rejects.toMatchObject({ code: 'plan_refused' });
    const shared = launch([0, 1]);
    if (shared.slots[0] && shared.slots[1]) shared.slots[1].private_ip = shared.slots[0].private_ip;
    await expect(provision(shared)).rejects.toMatchObject({ code: 'plan_refused' });
    expect(await machine.leases.list()).toEqual([]);
  });

  it('refuses a disk with data of a former tenant', async () => {
    const params = launch([3]);
    await mkdir(disk(params), { recursive: true });
    await writeFile(join(disk(params), 'leftover'), 'x');
    await expect(provision(params)).rejects.toMatchObject({ code: 'disk_not_clean' });
  });

  it('a guest that never boots fails the task and keeps the lease', async () => {
    await writeFile(join(machine.dir, 'faults'), 'vm_never_boots');
    const params = launch([0]);
    await expect(provision(params)).rejects.toMatchObject({ code: 'network_not_bound' });
    expect(await machine.leases.list()).toHaveLength(1);
    expect((await release(params)).vm_absent).toBe(true);
    expect(await machine.leases.list()).toEqual([]);
  });

  it('runs the image’s checks, and fails when one does', async () => {
    const image = { name: 'H200-ubuntu-24.04-cuda-13-gpuaas-slice', digest: `sha256:${'cd'.repeat(32)}` };
    const checks: Provision['readiness_checks'] = ['nvidia_driver', 'cuda_toolkit'];
    const good = { ...launch([0, 1]), image, readiness_checks: checks };
    const { readiness } = await provision(good);
    expect(readiness.map(({ check, passed }) => [check, passed])).toEqual([
      ['ssh', true],
      ['nvidia_driver', true],
      ['cuda_toolkit', true],
    ]);
    expect(readiness[1]?.evidence).toContain('2 of 2');
    await writeFile(join(machine.dir, 'faults'), 'driver_missing');
    const bad = { ...launch([2]), image, readiness_checks: checks };
    await expect(provision(bad)).rejects.toMatchObject({
      code: 'image_not_ready',
      message: expect.stringContaining('nvidia-smi is not in the image'),
    });
  });

  it('writes the seed without letting a value add a key', async () => {
    const params = { ...launch([0]), ssh_authorized_keys: [`${createKeyPair().public} me\nruncmd: [id]`] };
    await provision(params);
    const seed = await readFile(join(machine.dir, 'slices', params.allocation_id, 'user-data.yaml'), 'utf8');
    expect(seed).toMatch(/^#cloud-config\n/);
    expect(seed).not.toMatch(/^runcmd/m);
  });

  it('puts the user-data of the tenant before its own, so that its own wins', async () => {
    const ending = '--gpuaas-user-data--\nusers: []\n';
    const params = { ...launch([0]), user_data: `#cloud-config\nruncmd: [id]\n# ${ending}` };
    await provision(params);
    const seed = await readFile(join(machine.dir, 'slices', params.allocation_id, 'user-data.yaml'), 'utf8');
    const parts = [...seed.matchAll(/Content-Type: (text\/\S+);[^]*?\n\n([^]*?)\n--gpuaas-user-data/g)].map(
      ([, type, text]) => ({ type, text: Buffer.from(text!, 'base64').toString() }),
    );
    expect(parts).toEqual([
      { type: 'text/cloud-config', text: params.user_data },
      {
        type: 'text/cloud-config',
        text: expect.stringMatching(/^#cloud-config\nhostname: .*\n[^]*users:\n/),
      },
    ]);
    const script = { ...launch([1]), user_data: '#!/bin/sh\nid\n' };
    await provision(script);
    const scripted = await readFile(
      join(machine.dir, 'slices', script.allocation_id, 'user-data.yaml'),
      'utf8',
    );
    expect(scripted).toMatch(/text\/x-shellscript[^]*text\/cloud-config/);
  });
});

describe('release', () => {
  it('reads the wiped disks back and then releases the slots', async () => {
    const params = launch([0, 1]);
    await provision(params);
    await mkdir(join(disk(params), 'home', 'locked', 'deep'), { recursive: true });
    await chmod(join(disk(params), 'home', 'locked'), 0);
    const output = await release(params);
    expect(output.wipes.map((wipe) => wipe.verified)).toEqual([true, true]);
    expect(await readdir(disk(params))).toEqual([]);
    expect(await machine.leases.list()).toEqual([]);
    expect(machine.streams.isRevoked(params.allocation_id)).toBe(true);
  });

  it('leaves data that the allocation did not write, until an operator confirms its wipe', async () => {
    const params = launch([4]);
    await mkdir(disk(params), { recursive: true });
    await writeFile(join(disk(params), 'share.img'), 'x');
    await expect(provision(params)).rejects.toMatchObject({ code: 'disk_not_clean' });
    for (const scope of [undefined, 'own_data'] as const) {
      await expect(release(params, scope)).rejects.toMatchObject({
        code: 'disk_not_ours',
        output: { vm_absent: true, wipes: [] },
      });
    }
    expect(await release(params, 'nothing')).toMatchObject({ vm_absent: true, wipes: [] });
    expect(await readdir(disk(params))).toEqual(['share.img']);
    expect(await machine.leases.list()).toHaveLength(1);
    expect(await release(params, 'all_data')).toMatchObject({ wipes: [{ verified: true }] });
    expect(await readdir(disk(params))).toEqual([]);
    expect(await machine.leases.list()).toEqual([]);
  });

  it('wipes its data even if the VM was never created', async () => {
    const params = launch([4]);
    const clone = { signal: machine.context.signal, percent: () => undefined };
    await machine.host.cloneImage(planVm(params), clone);
    expect(await readdir(disk(params))).not.toEqual([]);
    expect(await release(params)).toMatchObject({ vm_absent: true, wipes: [{ verified: true }] });
    expect(await readdir(disk(params))).toEqual([]);
  });

  it('proves a disk that the allocation never wrote by reading it back', async () => {
    const { wipes } = await release(launch([4]));
    expect(wipes).toMatchObject([{ method: 'none', verified: true }]);
    expect(await machine.leases.list()).toEqual([]);
  });

  it('does not take data for its own that came after a proven wipe', async () => {
    const params = launch([0]);
    await provision(params);
    await release(params);
    await writeFile(join(disk(params), 'share.img'), 'x');
    await expect(release(params)).rejects.toMatchObject({ code: 'disk_not_ours' });
  });

  it('gives a proven slot back while another slot of the machine is not proven', async () => {
    const params = launch([0, 1]);
    await provision(params);
    const [proven, dirty] = params.slots;
    const host: typeof machine.host = {
      ...machine.host,
      async verifyWipe(slot, depth, step) {
        const proof = await machine.host.verifyWipe(slot, depth, step);
        return slot.slot_id === dirty!.slot_id ? { ...proof, verified: false } : proof;
      },
    };
    const { allocation_id, slots } = params;
    const task = { allocation_id, slots, wipe_method: 'blkdiscard', stop_timeout_seconds: 5 } as const;
    await expect(releaseSliceVm(task, { ...machine, host }, machine.context)).rejects.toMatchObject({
      code: 'wipe_not_verified',
    });
    expect((await machine.leases.list()).map(({ slot_id }) => slot_id)).toEqual([dirty!.slot_id]);
    const next = { ...launch([0]), slots: [proven!] };
    expect((await provision(next)).network.lease_state).toBe('bound');
  });

  it.each<[string, object]>([
    ['a partition table with an EFI system partition', { partitions: [{ efi: true, filesystem: 'vfat' }] }],
    [
      'a volume group that the host assembled',
      { partitions: [{ filesystem: 'LVM2_member', holder: { name: 'dm-3' } }] },
    ],
    [
      'an array that the host assembled',
      { filesystem: 'linux_raid_member', partitions: [{ holder: { name: 'md127' } }] },
    ],
  ])('wipes %s with the rest of what the tenant wrote', async (_what, layout) => {
    const params = launch([0]);
    await provision(params);
    await writeFile(join(disk(params), 'layout.json'), JSON.stringify(layout));
    expect(await release(params)).toMatchObject({ wipes: [{ verified: true }] });
    expect(await readdir(disk(params))).toEqual([]);
  });

  it('refuses an array on a disk that the lease did not write, also when an operator confirmed the wipe', async () => {
    const params = launch([0]);
    await mkdir(disk(params), { recursive: true });
    const layout = { partitions: [{ filesystem: 'linux_raid_member', holder: { name: 'md0' } }] };
    await writeFile(join(disk(params), 'layout.json'), JSON.stringify(layout));
    for (const scope of ['own_data', 'all_data'] as const)
      await expect(release(params, scope)).rejects.toMatchObject({ code: 'disk_in_use' });
    expect(await readdir(disk(params))).toEqual(['layout.json']);
  });

  it('stops a machine without touching its disk if nothing shall be wiped', async () => {
    const params = launch([0]);
    await provision(params);
    expect(await release(params, 'nothing')).toEqual({
      vm_absent: true,
      stop: 'graceful',
      network_clean: true,
      wipes: [],
    });
    expect(await readdir(disk(params))).not.toEqual([]);
    expect(await machine.leases.list()).toHaveLength(1);
    expect(await release(params, 'own_data')).toMatchObject({ wipes: [{ verified: true }] });
  });

  it('reports an incomplete wipe with evidence and keeps the lease', async () => {
    const params = launch([0]);
    await provision(params);
    await writeFile(join(machine.dir, 'faults'), 'wipe_fails');
    await expect(release(params)).rejects.toMatchObject({
      code: 'wipe_not_verified',
      output: {
        vm_absent: true,
        wipes: [{ verified: false, verification: expect.stringContaining('residue.bin') }],
      },
    });
    expect(await machine.leases.list()).toHaveLength(1);
    await writeFile(join(machine.dir, 'faults'), '');
    expect((await release(params)).wipes[0]?.verified).toBe(true);
    expect(await machine.leases.list()).toEqual([]);
  });

  it('wipes each slot by its own policy and reports the method', async () => {
    const params = launch([0, 1]);
    await provision(params);
    const [boot, other] = params.slots.map(({ slot_id }) => slot_id);
    const asked: string[] = [];
    const host: typeof machine.host = {
      ...machine.host,
      async wipeDisk(slot, wipe, step) {
        asked.push(`${slot.slot_id} ${wipe.method}`);
        await machine.host.wipeDisk(slot, wipe, step);
      },
    };
    const { allocation_id, slots } = params;
    const policies = { wipe_method: 'blkdiscard', wipe_methods: { [other!]: 'nvme_sanitize' } } as const;
    const task = { allocation_id, slots, ...policies, stop_timeout_seconds: 5 };
    const { wipes } = await releaseSliceVm(task, { ...machine, host }, machine.context);
    expect(asked).toEqual([`${boot} blkdiscard`, `${other} nvme_sanitize`]);
    expect(wipes.map(({ slot_id, method }) => `${slot_id} ${method}`)).toEqual(asked);
  });

  it('reports no slot as clean while network leftovers exist', async () => {
    const params = launch([0]);
    await provision(params);
    await writeFile(join(machine.dir, 'faults'), 'network_residue');
    await expect(release(params)).rejects.toMatchObject({
      code: 'network_not_clean',
      message: `still on the host: lease of ${params.slots[0]!.management_mac}`,
      output: { vm_absent: true, stop: 'graceful', network_clean: false },
    });
    expect(await machine.leases.list()).toHaveLength(1);
    await writeFile(join(machine.dir, 'faults'), '');
    expect(await release(params)).toMatchObject({ stop: 'absent', network_clean: true });
  });

  it('never touches a slot that another allocation holds', async () => {
    const owner = launch([0]);
    await provision(owner);
    const stale = { ...launch([0]), slots: owner.slots };
    await expect(release(stale)).rejects.toMatchObject({ code: 'slot_leased' });
    expect(await machine.host.vmExists(owner.allocation_id)).toBe(true);
    expect(await readdir(disk(owner))).not.toEqual([]);
  });

  it('never wipes a disk that a VM uses, even when the slot id is unknown here', async () => {
    const owner = launch([0]);
    await provision(owner);
    await expect(release(launch([0]))).rejects.toMatchObject({ code: 'disk_in_use' });
    expect(await readdir(disk(owner))).not.toEqual([]);
  });

  it('never wipes a mounted disk', async () => {
    await writeFile(join(machine.dir, 'faults'), 'disk_mounted');
    await expect(release(launch([7]))).rejects.toMatchObject({ code: 'disk_mounted' });
  });
});

it('machines are reported with the address that each has now', async () => {
  const params = launch([0]);
  await provision(params);
  const { management_mac: mac, private_ip: expected_ip } = params.slots[0]!;
  const reported = async () => (await machine.host.listVms())[0]?.network;
  expect(await reported()).toEqual({ mac, expected_ip, actual_ip: expected_ip, lease_state: 'bound' });
  const file = join(machine.dir, 'network', `${mac.replaceAll(':', '')}.json`);
  const lease = JSON.parse(await readFile(file, 'utf8')) as object;
  await writeFile(file, JSON.stringify({ ...lease, leased_ip: null }));
  expect(await reported()).toMatchObject({ expected_ip, actual_ip: null, lease_state: 'missing' });
  await writeFile(file, JSON.stringify({ ...lease, leased_ip: '10.9.9.9' }));
  expect(await reported()).toMatchObject({ actual_ip: '10.9.9.9', lease_state: 'mismatch' });
});

it('VMs come back when the host does', async () => {
  const params = launch([0]);
  await provision(params);
  const run = JSON.parse(
    await readFile(join(machine.dir, 'vms', params.allocation_id, 'run.json'), 'utf8'),
  ) as { pid: number };
  process.kill(run.pid, 'SIGKILL');
  await expect.poll(async () => (await machine.host.listVms())[0]?.state).toBe('stopped');
  const again = await machine.reopen();
  await expect.poll(async () => (await again.listVms())[0]?.state).toBe('running');
});
