import { TaskError } from '../../../tasks/task-error.ts';
import { runOrThrow, type RunCommand } from '../commands.ts';
import type { Libvirt } from '../vm/libvirt.ts';
import { processesUsing } from './open-files.ts';
import type { SlotDisk } from './resolve-disk.ts';

/** Refuses a disk that is in use by anything but the allocation's own machine. */
export async function requireUnusedDisk(
  { root, libvirt }: { root: string; libvirt: Libvirt },
  disk: SlotDisk,
  own: { domain: string } | null,
): Promise<void> {
  const { serial, use } = disk;
  if (use.bootReason)
    throw new TaskError('disk_in_use', `the host runs from disk ${serial}: ${use.bootReason}`);
  if (use.mounts.length > 0) {
    throw new TaskError('disk_mounted', `disk ${serial} is mounted on ${use.mounts.join(', ')}`);
  }
  const held = use.filesystems.filter((content) => content.startsWith('held by'));
  if (held.length > 0) throw new TaskError('disk_in_use', `disk ${serial} is ${held.join(', ')}`);

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
