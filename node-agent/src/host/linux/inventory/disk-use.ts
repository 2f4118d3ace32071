import { basename } from 'node:path';
import { deviceStack, type BlockDevice } from './block-devices.ts';
import type { RunCommand } from '../commands.ts';
import type { HostFiles } from '../host-files.ts';
import { readMounts, readSwaps, type Mount } from './mounts.ts';

/** Uses of a disk, of its partitions, and of devices stacked on them. */
export interface DiskUse {
  mounts: string[];
  /** Content that is not mounted: partitions, file systems, members of md or LVM. */
  filesystems: string[];
  /**
   * Why the host needs this disk to run; null when it does not. Decided by what the kernel uses and never by what is
   * written on the disk: a tenant writes what it likes.
   */
  bootReason: string | null;
  /** Devices that the kernel assembled from the disk, such as `md127` or `dm-3`, lowest first. */
  holders: string[];
}

export type GetDiskUse = (disk: string) => DiskUse;

/** Where our udev rule keeps the type that it hides from the rules that assemble arrays and volumes. */
export const HIDDEN_TYPE = 'GPUAAS_FS_TYPE';

/** A disk below one of these carries the host itself. */
const SYSTEM_MOUNTS = ['/boot', '/efi', '/usr', '/etc', '/var', '/opt', '/root', '/home', '/tmp'];

export async function readDiskUse(
  files: HostFiles,
  run: RunCommand,
  devices: ReadonlyMap<string, BlockDevice>,
): Promise<GetDiskUse> {
  const mounts = readMounts(files);
  const siblings = readBtrfsMembers(files);
  const swaps = new Set(readSwaps(files).map((path) => files.linkName(path) ?? basename(path)));
  const seen = await readSignatures(run);

  return (disk) => {
    const stack = deviceStack(disk, devices).flatMap((name) => devices.get(name) ?? []);
    const mounted = mounts.filter((mount) => stack.some((device) => isOn(mount, device, siblings)));
    return {
      mounts: [...new Set(mounted.map((mount) => mount.mountPoint))].toSorted(),
      filesystems: stack.flatMap((device) => contentOf(device, disk)).toSorted(),
      bootReason: bootReason(stack, mounted),
      holders: [...new Set(stack.flatMap((device) => device.holders))],
    };
  };

  function contentOf(device: BlockDevice, disk: string): string[] {
    const udev = readUdev(files, device);
    const listed = seen?.get(device.name);
    const found: string[] = [];
    const type = udev?.get(HIDDEN_TYPE) || udev?.get('ID_FS_TYPE') || listed?.fstype;
    const table = udev?.get('ID_PART_TABLE_TYPE') ?? listed?.pttype;
    if (device.parent) found.push(`partition ${partOf(device, disk)}`);
    if (type) found.push(`${type} on ${partOf(device, disk)}`);
    if (table && device.name === disk) found.push(`${table} partition table`);
    if (device.holders.length > 0) found.push(`held by ${device.holders.join(', ')}`);
    // The disk was never probed, so it is not known to be blank.
    if (device.name === disk && !udev && !listed) found.push('content unknown: neither udev nor lsblk tells');
    return found;
  }

  function bootReason(stack: readonly BlockDevice[], mounted: readonly Mount[]): string | null {
    const system = mounted.map((mount) => mount.mountPoint).filter(isSystemMount);
    if (system.length > 0) return `mounted on ${[...new Set(system)].toSorted().join(', ')}`;
    return stack.some((device) => swaps.has(device.name)) ? 'used as swap' : null;
  }
}

/** Names change at every boot, so evidence names `part1`, not `nvme3n1p1`. */
function partOf(device: BlockDevice, disk: string): string {
  if (device.name === disk) return 'the whole disk';
  return device.parent === disk ? device.name.slice(disk.length).replace(/^p?/, 'part') : device.name;
}

function isOn(mount: Mount, device: BlockDevice, btrfs: readonly string[][]): boolean {
  if (mount.number === device.number || mount.source === `/dev/${device.name}`) return true;
  const members = btrfs.find((names) => names.includes(device.name)) ?? [];
  return members.some((name) => mount.source === `/dev/${name}`);
}

/** A btrfs of several disks is mounted under the name of one of them. */
function readBtrfsMembers(files: HostFiles): string[][] {
  return files.list('/sys/fs/btrfs').map((id) => files.list(`/sys/fs/btrfs/${id}/devices`));
}

function isSystemMount(path: string): boolean {
  return path === '/' || SYSTEM_MOUNTS.some((system) => path === system || path.startsWith(`${system}/`));
}

/** udev probed every disk at boot and keeps its findings. Null when udev has no entry for the device. */
function readUdev(files: HostFiles, device: BlockDevice): Map<string, string> | null {
  const text = files.text(`/run/udev/data/b${device.number}`);
  if (text === null) return null;
  const entries = text.split('\n').flatMap((line) => {
    const [, key, value] = /^E:([A-Z0-9_]+)=(.*)$/.exec(line) ?? [];
    return key ? [[key, value ?? ''] as const] : [];
  });
  return new Map(entries);
}

interface Signature {
  fstype: string | null;
  pttype: string | null;
}

interface ListedDevice extends Signature {
  name: string;
}

/** The second opinion, for hosts without udev. */
async function readSignatures(run: RunCommand): Promise<Map<string, Signature> | null> {
  const result = await run('lsblk', ['--json', '--list', '--output', 'NAME,FSTYPE,PTTYPE']);
  if (result?.code !== 0) return null;
  const { blockdevices }: { blockdevices: ListedDevice[] } = JSON.parse(result.stdout);
  return new Map(blockdevices.map((device) => [device.name, device]));
}
