import { basename } from 'node:path';
import { deviceStack, type BlockDevice } from './block-devices.ts';
import type { DiskUse, GetDiskUse } from './disk-use.ts';
import type { HostFiles } from '../host-files.ts';
import type { PciDevice } from './pci.ts';

/** A local disk. `nvmeN` is only its name in this boot; serial, wwid and PCI address identify it. */
export interface Disk {
  name: string;
  nvme: boolean;
  /** Such as `nvme3`; with several paths to a drive its number is not that of the disk. */
  controller: string | null;
  serial: string | null;
  wwid: string | null;
  model: string | null;
  pciAddress: string | null;
  /** A path that is stable over boots, or null without one. */
  device: string | null;
  sizeBytes: number;
  numaNode: number;
  path: string[];
  /** `major:minor` of its partitions, and of all that is stacked on disk and partitions. */
  stack: string[];
  use: DiskUse;
}

const NO_DISK = /^(loop|ram|zram|dm-|md|sr|fd|nbd)|^nvme\d+c\d+n/;

export function readDisks(
  files: HostFiles,
  devices: ReadonlyMap<string, BlockDevice>,
  pci: ReadonlyMap<string, PciDevice>,
  useOf: GetDiskUse,
): Disk[] {
  const disks = [...devices.values()].filter(({ name, parent }) => parent === null && !NO_DISK.test(name));
  return disks.map((device) => {
    const controller = controllerOf(files, device.name);
    const address =
      controller && files.text(`${controller}/transport`) === 'pcie' ? pciOf(files, controller) : null;
    const slot = address === null ? undefined : pci.get(address);
    return {
      name: device.name,
      nvme: controller !== null,
      controller: controller && basename(controller),
      serial: controller ? files.text(`${controller}/serial`) || null : null,
      wwid: files.text(`/sys/class/block/${device.name}/wwid`) || null,
      model: controller ? files.text(`${controller}/model`) || null : null,
      pciAddress: address,
      device: stablePath(files, device.name),
      sizeBytes: device.sizeBytes,
      numaNode: slot?.numaNode ?? 0,
      path: slot?.path ?? [],
      stack: deviceStack(device.name, devices)
        .slice(1)
        .flatMap((name) => devices.get(name)?.number ?? []),
      use: useOf(device.name),
    };
  });
}

/** With multipath a namespace belongs to a subsystem, and the subsystem to one or more controllers. */
function controllerOf(files: HostFiles, name: string): string | null {
  if (!name.startsWith('nvme')) return null;
  const owner = files.real(`/sys/class/block/${name}/device`);
  if (owner === null) return null;
  if (files.exists(`${owner}/transport`)) return owner;
  const controllers = files.list(owner).filter((entry) => /^nvme\d+$/.test(entry));
  const paths = controllers.flatMap((entry) => files.real(`${owner}/${entry}`) ?? []);
  return paths.toSorted((a, b) => (a < b ? -1 : 1))[0] ?? null;
}

function pciOf(files: HostFiles, controller: string): string | null {
  return files.text(`${controller}/address`) ?? files.linkName(`${controller}/device`);
}

/** Model and serial read best; the name by wwid is as good. */
function stablePath(files: HostFiles, name: string): string | null {
  const folder = '/dev/disk/by-id';
  const links = files.list(folder).filter((link) => files.linkName(`${folder}/${link}`) === name);
  const best = links.find((link) => /^nvme-(?!eui\.|uuid\.|nvme\.)/.test(link)) ?? links[0];
  return best ? `${folder}/${best}` : null;
}
