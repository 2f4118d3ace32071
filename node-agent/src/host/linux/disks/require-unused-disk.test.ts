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
import { requireUnusedDisk } from './require-unused-disk.ts';
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
const refuse = (): Promise<void> => requireUnusedDisk({ root, libvirt: openLibvirt(run) }, disk, null);

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
