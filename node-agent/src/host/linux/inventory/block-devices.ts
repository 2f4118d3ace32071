import type { HostFiles } from '../host-files.ts';

/** A disk, a partition, or a device made of others (md, dm), as the kernel names it in this boot. */
export interface BlockDevice {
  name: string;
  /** `major:minor`. */
  number: string;
  /** The disk of a partition. */
  parent: string | null;
  /** Devices stacked on top: md, LVM, multipath, crypt. */
  holders: string[];
  sizeBytes: number;
}

const CLASS = '/sys/class/block';
const SECTOR = 512;

export function readBlockDevices(files: HostFiles): Map<string, BlockDevice> {
  return new Map(files.list(CLASS).map((name) => [name, readDevice(files, name)]));
}

function readDevice(files: HostFiles, name: string): BlockDevice {
  const at = `${CLASS}/${name}`;
  const isPartition = files.exists(`${at}/partition`);
  return {
    name,
    number: files.text(`${at}/dev`) ?? '',
    parent: isPartition ? (files.real(at)?.split('/').at(-2) ?? null) : null,
    holders: files.list(`${at}/holders`),
    sizeBytes: (files.integer(`${at}/size`) ?? 0) * SECTOR,
  };
}

/** The device itself, its partitions, and all that is stacked on them. */
export function deviceStack(name: string, devices: ReadonlyMap<string, BlockDevice>): string[] {
  const found = new Set<string>();
  const visit = (current: string): void => {
    if (found.has(current)) return;
    found.add(current);
    for (const [child, { parent }] of devices) if (parent === current) visit(child);
    for (const holder of devices.get(current)?.holders ?? []) visit(holder);
  };
  visit(name);
  return [...found];
}
