import { TaskError } from '../../../tasks/task-error.ts';
import { runOrThrow, type RunCommand } from '../commands.ts';
import type { DiskUse } from '../inventory/disk-use.ts';
import type { Libvirt } from '../vm/libvirt.ts';
import { processesUsing } from './open-files.ts';
import type { SlotDisk } from './resolve-disk.ts';

/**
 * Refuses a disk that the host itself uses. An array or a volume group counts only on a disk that no lease wrote: on a
 * lease's disk the host found it among the tenant's data and assembled it without being asked.
 */
export function refuseHostUse(
  serial: string,
  { bootReason, mounts, holders }: DiskUse,
  isWritten: boolean,
): void {
  if (bootReason) throw new TaskError('disk_in_use', `the host runs from disk ${serial}: ${bootReason}`);
  if (mounts.length > 0) {
    throw new TaskError('disk_mounted', `disk ${serial} is mounted on ${mounts.join(', ')}`);
  }
  if (holders.length > 0 && !isWritten)
    throw new TaskError('disk_in_use', `disk ${serial} is held by ${holders.join(', ')}`);
}

/** Refuses a disk that is in use by anything but the allocation's own machine. */
export async function requireUnusedDisk(
  { root, libvirt }: { root: string; libvirt: Libvirt },
  disk: SlotDisk,
  own: { domain: string } | null,
  isWritten: boolean,
): Promise<void> {
  const { serial, use } = disk;
  refuseHostUse(serial, use, isWritten);
  const domains = await libvirt.domainsUsing(disk.numbers);
  const foreign = domains.filter((name) => name !== own?.domain);
  if (foreign.length > 0) {
    throw new TaskError('disk_in_use', `disk ${serial} belongs to the machine ${foreign.join(', ')}`);
  }
  // Files opened by the machine that may use the disk are allowed.
  if (own && domains.includes(own.domain)) return;
  const processes = processesUsing(root, disk.numbers);
  if (processes.length > 0) {
    throw new TaskError('disk_in_use', `disk ${serial} is opened by ${processes.join(', ')}`);
  }
}

/** Signatures of partition tables, file systems and volume managers, read from the disk itself. */
export async function findSignatures(run: RunCommand, disk: SlotDisk): Promise<string[]> {
  const text = await runOrThrow(run, 'disk_unreadable', 'wipefs', ['--no-act', '--json', disk.node], {
    timeoutMs: 60_000,
  });
  if (text.trim() === '') return [];
  const { signatures }: { signatures: { type: string; offset: string }[] } = JSON.parse(text);
  return signatures.map(({ type, offset }) => `${type} at ${offset}`);
}
