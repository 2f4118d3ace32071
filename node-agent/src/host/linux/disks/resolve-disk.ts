import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { SlotBundle } from '@gpuaas/contracts/tasks';
import { TaskError } from '../../../tasks/task-error.ts';
import type { HostDevices } from '../inventory/inventory.ts';
import type { Disk } from '../inventory/disks.ts';

/** The disk of a slot as it is now, and where it can be opened. */
export interface SlotDisk extends Disk {
  serial: string;
  /** Such as `/dev/nvme3n1`, good until the next boot. */
  node: string;
  /** Device numbers of the disk, of its partitions, and of everything stacked on them, under any name. */
  numbers: number[];
}

/**
 * Finds the approved disk by its serial: names change at every boot, and a wrong disk would be overwritten.
 */
export function findDisk(devices: HostDevices, slot: SlotBundle): Disk {
  const found = devices.disks.filter((disk) => disk.serial === slot.nvme_serial);
  const [disk] = found;
  if (!disk) throw new TaskError('plan_refused', `there is no disk ${slot.nvme_serial} in this host`);
  if (found.length > 1) {
    throw new TaskError('plan_refused', `${found.length} disks have the serial number ${slot.nvme_serial}`);
  }
  if (disk.device !== slot.nvme_device) {
    const detail = `disk ${slot.nvme_serial} is ${disk.device ?? 'without a stable path'} in this host, not ${slot.nvme_device}`;
    throw new TaskError('plan_refused', `${detail}; discover and approve again`);
  }
  return disk;
}

export function resolveDisk(root: string, devices: HostDevices, slot: SlotBundle): SlotDisk {
  const disk = findDisk(devices, slot);
  const node = join(root, 'dev', disk.name);
  const facts = statSync(node, { throwIfNoEntry: false });
  if (!facts?.isBlockDevice()) throw new TaskError('plan_refused', `${node} is not a block device`);
  return { ...disk, serial: slot.nvme_serial, node, numbers: [facts.rdev, ...disk.stack.map(deviceNumber)] };
}

/** `259:3` as `stat` encodes it, see makedev(3). */
function deviceNumber(text: string): number {
  const [major = 0, minor = 0] = text.split(':').map(Number);
  return major * 0x100 + (minor % 0x100) + Math.floor(minor / 0x100) * 0x100000;
}
