import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync, symlinkSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { SlotBundle } from '@gpuaas/contracts/tasks';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { hgxH200 } from '../../simulated/host-tree/hgx-h200.ts';
import { writeHostTree } from '../../simulated/host-tree/write-host-tree.ts';
import { makeTreeFolder } from '../../../testing/tree-folder.ts';
import type { RunCommand } from '../commands.ts';
import { openHostFiles } from '../host-files.ts';
import { readHostDevices } from '../inventory/inventory.ts';
import { openLibvirt } from '../vm/libvirt.ts';
import type { DiskUse } from '../inventory/disk-use.ts';
import { openMemoryFiles } from '../../simulated/host-tree/memory-files.ts';
import type { Partition } from '../../simulated/host-tree/host-tree.ts';
import { TaskError } from '../../../tasks/task-error.ts';
import { releaseHolders } from './release-holders.ts';
import { refuseHostUse, requireUnusedDisk } from './require-unused-disk.ts';
import { resolveDisk, type SlotDisk } from './resolve-disk.ts';

const obstacle =
  process.platform !== 'linux' ? 'needs Linux' : process.getuid?.() !== 0 ? 'needs root' : null;
/** Opens a device without its driver, which these device numbers do not have. */
const O_PATH = 0o10000000;

let root: string;
let disk: SlotDisk;
/** The file of the disk's only partition. */
let partition: string;
let holder: ChildProcess | null;
let machines: Record<string, string>;

/** Libvirt with these machines, by the disk each one has. */
const run: RunCommand = async (_tool, args) => {
  const disk = machines[args.at(-1)!];
  const stdout = disk ? `<disk type='block'><source dev='${disk}' index='1'/></disk>` : '';
  return { code: 0, stdout: args.includes('list') ? Object.keys(machines).join('\n') : stdout, stderr: '' };
};
const refuse = (isWritten = false): Promise<void> =>
  requireUnusedDisk({ root, libvirt: openLibvirt(run) }, disk, null, isWritten);

describe.skipIf(obstacle !== null)(`a disk with a partition (${obstacle ?? 'needs nothing more'})`, () => {
  beforeEach(async () => {
    [holder, machines] = [null, {}];
    root = await makeTreeFolder();
    writeHostTree(root, hgxH200({ partitions: { 2: [{}] } }));
    const files = openHostFiles(root);
    const devices = await readHostDevices(files, async () => null);
    const found = devices.disks.find(({ stack, pciAddress }) => stack.length === 1 && pciAddress !== null)!;
    makeNode(found.name);
    partition = makeNode(`${found.name}p1`);
    const slot = { nvme_serial: found.serial, nvme_device: found.device } as SlotBundle;
    disk = resolveDisk(root, devices, slot);
  });
  afterEach(async () => {
    holder?.kill('SIGKILL');
    await rm(root, { recursive: true });
  });

  function makeNode(name: string): string {
    const node = join(root, 'dev', name);
    const [major = '', minor = ''] = readFileSync(join(root, 'sys/class/block', name, 'dev'), 'utf8')
      .trim()
      .split(':');
    // The tree has a plain file there, where the kernel has a device.
    rmSync(node, { force: true });
    execFileSync('mknod', [node, 'b', major, minor]);
    return node;
  }

  it('is free while neither is in use', async () => {
    await expect(refuse()).resolves.toBeUndefined();
  });

  it('is in use by a machine that has the partition', async () => {
    machines = { other: '/dev/null', 'of-the-operator': partition };
    await expect(refuse()).rejects.toMatchObject({
      code: 'disk_in_use',
      message: expect.stringContaining('of-the-operator'),
    });
  });

  it('is in use by a process that has the partition open', async () => {
    const program = `require('fs').openSync(${JSON.stringify(partition)}, ${O_PATH}); console.log('open');
      setInterval(() => undefined, 1000)`;
    holder = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'inherit'] });
    await once(holder.stdout!, 'data');
    symlinkSync(`/proc/${holder.pid}`, join(root, 'proc', String(holder.pid)));
    await expect(refuse()).rejects.toMatchObject({
      code: 'disk_in_use',
      message: expect.stringContaining(`(pid ${holder.pid})`),
    });
  });
});

describe('what a tenant wrote on the disk of its slot', () => {
  /** The disk of GPU 2 as the kernel shows it. */
  async function useOf(partitions: Partition[]) {
    const files = openMemoryFiles(hgxH200({ partitions: { 2: partitions } }));
    const { disks } = await readHostDevices(files, async () => null);
    const found = disks.find(({ serial }) => serial === 'S6CKN0T300002')!;
    return found.use;
  }
  const refusal = (use: DiskUse, isWritten: boolean): string | null => {
    try {
      refuseHostUse('S6CKN0T300002', use, isWritten);
      return null;
    } catch (error) {
      return error instanceof TaskError ? error.code : String(error);
    }
  };

  it('does not make it the host’s own, whatever a stock image or a malicious tenant writes', async () => {
    const efi = await useOf([{ filesystem: 'ext4' }, { efi: true, filesystem: 'vfat' }]);
    expect(efi.bootReason).toBeNull();
    expect(refusal(efi, true)).toBeNull();
    expect(efi.filesystems).toContain('vfat on part2');
    const members = await useOf([
      { filesystem: 'LVM2_member', holder: { name: 'dm-3' } },
      { filesystem: 'linux_raid_member', holder: { name: 'md127' } },
    ]);
    expect(members.holders).toEqual(['dm-3', 'md127']);
    expect(refusal(members, true)).toBeNull();
  });

  it('counts as a use by the host on a disk that no lease wrote', async () => {
    const volume = await useOf([{ filesystem: 'LVM2_member', holder: { name: 'dm-3' } }]);
    expect(refusal(volume, false)).toBe('disk_in_use');
    const share = await useOf([{ filesystem: 'ext4', mountPoint: '/srv/share' }]);
    for (const isWritten of [true, false]) expect(refusal(share, isWritten)).toBe('disk_mounted');
    const root = await useOf([{ filesystem: 'LVM2_member', holder: { name: 'dm-3', mountPoint: '/' } }]);
    for (const isWritten of [true, false]) expect(refusal(root, isWritten)).toBe('disk_in_use');
  });

  it('is taken apart before the wipe, the highest device first', async () => {
    const ran: string[] = [];
    const take: RunCommand = async (tool, args) => {
      ran.push([tool, ...args].join(' '));
      return { code: 0, stdout: '', stderr: '' };
    };
    const use = await useOf([{ filesystem: 'linux_raid_member', holder: { name: 'md127' } }]);
    const stacked = { use: { ...use, holders: ['md127', 'dm-3'] } } as SlotDisk;
    await releaseHolders(take, stacked, new AbortController().signal);
    expect(ran).toEqual(['dmsetup remove --retry /dev/dm-3', 'mdadm --stop /dev/md127']);
  });
});
