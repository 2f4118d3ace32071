import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { parseTaskOutput } from '@gpuaas/contracts/tasks';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { hgxH200 } from '../../simulated/host-tree/hgx-h200.ts';
import type { HostTree } from '../../simulated/host-tree/host-tree.ts';
import { makeTreeFolder } from '../../../testing/tree-folder.ts';
import { openMemoryFiles } from '../../simulated/host-tree/memory-files.ts';
import { writeHostTree } from '../../simulated/host-tree/write-host-tree.ts';
import { runCommand, type RunCommand } from '../commands.ts';
import { discoverTopology } from './discover-topology.ts';
import { openHostFiles, type HostFiles } from '../host-files.ts';

let root: string;
beforeEach(async () => {
  root = await makeTreeFolder();
});
afterEach(() => rm(root, { recursive: true }));

const tools: RunCommand = (tool) =>
  Promise.resolve(tool === 'ovs-vsctl' ? { code: 0, stdout: 'ovsbr0\n', stderr: '' } : null);

async function discover(host: HostTree, files: HostFiles = openMemoryFiles(host)) {
  const topology = await discoverTopology(files, tools, 'hgx-01');
  return parseTaskOutput('slice.topology_discover', topology);
}

/** Runs discovery on real files and links. */
async function discoverInFolder(host: HostTree) {
  writeHostTree(root, host);
  return await discover(host, openHostFiles(root));
}

/** Puts the part that a reader of a golden file needs first; all of it is compared. */
async function golden(name: string, topology: object): Promise<void> {
  await expect(`${JSON.stringify(topology, null, 2)}\n`).toMatchFileSnapshot(`golden/${name}.json`);
}

it('a clean HGX H200 host gives eight slots, each of parts under one switch', async () => {
  const topology = await discoverInFolder(hgxH200());
  await golden('hgx-h200', topology);
  expect(topology.candidates).toHaveLength(8);
  for (const slot of topology.candidates) {
    expect([slot.fabric_locality, slot.nvme_locality]).toEqual(['same_switch', 'same_switch']);
    expect([slot.nvme_mounts, slot.nvme_filesystems]).toEqual([[], []]);
  }
  const serials = topology.candidates.map((slot) => slot.nvme_serial);
  expect(serials.some((serial) => serial?.startsWith('BTLA'))).toBe(false);
  expect(topology.left_out.filter(({ code }) => code === 'boot_disk').map(({ reason }) => reason)).toEqual([
    'the host runs from it: mounted on /, /boot/efi',
    'the host runs from it: mounted on /',
  ]);
});

it('lists the content of a disk with mounted or forgotten children', async () => {
  const partitions = {
    2: [{ filesystem: 'xfs', mountPoint: '/srv/team share' }],
    5: [{ filesystem: 'LVM2_member', holder: { name: 'dm-0', mountPoint: '/data' } }],
    6: [{ filesystem: 'ext4' }],
  };
  const topology = await discoverInFolder(hgxH200({ partitions }));
  await golden('mounted-nvme-children', topology);
  const shown = topology.candidates.map((slot) => [slot.nvme_mounts, slot.nvme_filesystems]);
  expect(shown[2]).toEqual([['/srv/team share'], ['gpt partition table', 'partition part1', 'xfs on part1']]);
  expect(shown[5]?.[0]).toEqual(['/data']);
  expect(shown[5]?.[1]).toContain('held by dm-0');
  expect(shown[6]).toEqual([[], ['ext4 on part1', 'gpt partition table', 'partition part1']]);
});

it('leaves out a GPU that shares its IOMMU group, and the others keep their index', async () => {
  const topology = await discover(hgxH200({ sharedGroups: [3] }));
  await golden('shared-iommu-group', topology);
  expect(topology.candidates.map((slot) => slot.slot_index)).toEqual([0, 1, 2, 4, 5, 6, 7]);
  expect(topology.left_out).toContainEqual(
    expect.objectContaining({ device: '0000:61:00.0', code: 'iommu_group_shared' }),
  );
});

it('a host without virtual functions gives slots without fabric, and says so for each adapter', async () => {
  const topology = await discover(hgxH200({ virtualFunctions: 0 }));
  await golden('missing-vfs', topology);
  expect(topology.candidates.every((slot) => slot.fabric_vf_pci_address === null)).toBe(true);
  expect(topology.left_out.filter(({ code }) => code === 'fabric_no_vfs')).toHaveLength(8);
});

it('a host with four GPUs', async () => {
  const topology = await discover(hgxH200({ gpus: 4 }));
  await golden('four-gpus', topology);
  expect(topology.candidates.map((slot) => slot.numa_node)).toEqual([0, 0, 1, 1]);
});

it('gives the same result for a host under any disk names', async () => {
  const first = await discover(hgxH200());
  const renamed = hgxH200();
  const disks = renamed.roots.flatMap(({ children }) => nvmesBelow(children));
  const names = disks.map(({ name }) => name).toReversed();
  for (const [index, disk] of disks.entries()) disk.name = names[index] ?? disk.name;
  expect((await discover(renamed)).candidates).toEqual(first.candidates);
});

it('a GPU that fell off the bus is left out', async () => {
  const topology = await discover(hgxH200({ lost: [1] }));
  expect(topology.candidates).toHaveLength(7);
  expect(topology.left_out).toContainEqual(
    expect.objectContaining({ device: '0000:43:00.0', code: 'gpu_lost' }),
  );
});

it('offers no GPU without an IOMMU', async () => {
  const host = hgxH200();
  for (const node of host.roots.flatMap(({ children }) => allBelow(children))) delete node.iommuGroup;
  const topology = await discover(host);
  expect(topology.candidates).toEqual([]);
  expect(topology.left_out.filter(({ code }) => code === 'iommu_off')).not.toEqual([]);
});

it('a second disk of a btrfs that the host runs from is a boot disk too', async () => {
  const host = hgxH200({ partitions: { 0: [{ filesystem: 'btrfs' }], 1: [{ filesystem: 'btrfs' }] } });
  host.mounts.push('90 1 0:45 /@ / rw - btrfs /dev/nvme8n1p1 rw');
  host.files['/sys/fs/btrfs/0b1c/devices/nvme8n1p1'] = '';
  host.files['/sys/fs/btrfs/0b1c/devices/nvme7n1p1'] = '';
  const boot = (await discover(host)).left_out.filter(({ code }) => code === 'boot_disk');
  expect(boot.map(({ device }) => device)).toEqual(
    expect.arrayContaining(['0000:19:00.0 S6CKN0T300000', '0000:41:00.0 S6CKN0T300001']),
  );
});

it('swap makes a boot disk, an unmounted EFI partition is content that approval refuses', async () => {
  const topology = await discover(
    hgxH200({
      partitions: { 0: [{ swap: true, filesystem: 'swap' }], 1: [{ efi: true, filesystem: 'vfat' }] },
    }),
  );
  const reasons = topology.left_out.filter(({ code }) => code === 'boot_disk').map(({ reason }) => reason);
  expect(reasons).toContain('the host runs from it: used as swap');
  const withEfi = topology.candidates.find(({ nvme_serial }) => nvme_serial === 'S6CKN0T300001');
  expect(withEfi?.nvme_filesystems).toEqual(expect.arrayContaining(['gpt partition table', 'vfat on part1']));
});

it('a disk that was never probed does not count as blank', async () => {
  writeHostTree(root, hgxH200());
  await rm(join(root, 'run/udev'), { recursive: true });
  const topology = await discoverTopology(openHostFiles(root), tools, 'hgx-01');
  expect(topology.candidates[0]?.nvme_filesystems).toEqual(['content unknown: neither udev nor lsblk tells']);
});

it('two disks with one serial number are both left out', async () => {
  const host = hgxH200();
  const [first, second] = host.roots.slice(1).flatMap(({ children }) => nvmesBelow(children));
  if (first && second) second.serial = first.serial;
  const topology = await discover(host);
  expect(topology.left_out.filter(({ code }) => code === 'disk_duplicate_identity')).toHaveLength(2);
  expect(topology.candidates.filter((slot) => slot.nvme_serial === null)).toHaveLength(2);
});

it('survives an ordinary machine, offers nothing and says why', async () => {
  const topology = await discoverTopology(openHostFiles('/'), runCommand, 'here');
  parseTaskOutput('slice.topology_discover', topology);
  expect(topology.approval_required).toBe(true);
  if (topology.inventory?.gpus.some((gpu) => gpu.model !== null)) return;
  expect(topology.candidates).toEqual([]);
  expect(topology.left_out).toContainEqual(expect.objectContaining({ kind: 'host', code: 'no_gpus' }));
  expect(topology.inventory?.cpu.threads).toBeGreaterThan(0);
});

function allBelow(nodes: HostTree['roots'][number]['children']): typeof nodes {
  return nodes.flatMap((node) => [node, ...allBelow(node.children ?? []), ...(node.sriov?.functions ?? [])]);
}

function nvmesBelow(nodes: HostTree['roots'][number]['children']) {
  return allBelow(nodes).flatMap((node) => node.nvme ?? []);
}
