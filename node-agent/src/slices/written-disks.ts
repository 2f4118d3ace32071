import { join } from 'node:path';
import { ensureFolder, readJson, removeDurable, writeDurable } from '../durable-file.ts';
import { removeSeed, seedFolder } from './cloud-init-seed.ts';

/** Survives the seed: it ends with the proof that the disk is blank again. */
export const WRITTEN_DISKS = 'cloning.json';

/** Notes before the first byte that these disks carry the allocation's data. Only noted disks are its to wipe. */
export async function noteDisksToWrite(
  dir: string,
  allocationId: string,
  serials: readonly string[],
): Promise<void> {
  const folder = seedFolder(dir, allocationId);
  await ensureFolder(folder);
  await writeDurable(join(folder, WRITTEN_DISKS), `${JSON.stringify({ serials })}\n`);
}

/** Serial numbers of the disks that the allocation may have written. */
export async function disksWrittenBy(dir: string, allocationId: string): Promise<ReadonlySet<string>> {
  const noted = await readJson<{ serials: string[] }>(join(seedFolder(dir, allocationId), WRITTEN_DISKS));
  return new Set(noted?.serials);
}

/** The disk was read back as blank: what is found on it later is not the allocation's. */
export async function forgetWrittenDisk(dir: string, allocationId: string, serial: string): Promise<void> {
  const noted = await disksWrittenBy(dir, allocationId);
  if (!noted.has(serial)) return;
  const left = [...noted].filter((other) => other !== serial);
  if (left.length > 0) return await noteDisksToWrite(dir, allocationId, left);
  await removeDurable(join(seedFolder(dir, allocationId), WRITTEN_DISKS));
  await removeSeed(dir, allocationId, []);
}
