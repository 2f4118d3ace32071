import { runOrThrow, type RunCommand } from '../commands.ts';
import type { SlotDisk } from './resolve-disk.ts';

/**
 * Takes apart arrays and volumes that the host assembled from a lease's disk, the highest first: the kernel keeps the disk
 * from its wipe as long as they stand.
 */
export async function releaseHolders(run: RunCommand, { use }: SlotDisk, signal: AbortSignal): Promise<void> {
  for (const name of use.holders.toReversed()) {
    const node = `/dev/${name}`;
    const options = { timeoutMs: 60_000, signal };
    if (name.startsWith('md')) await runOrThrow(run, 'disk_in_use', 'mdadm', ['--stop', node], options);
    else await runOrThrow(run, 'disk_in_use', 'dmsetup', ['remove', '--retry', node], options);
  }
}
