import { chmod, lstat, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AGENT_VERSION } from '../../agent-version.ts';
import { ensureFolder, isErrno, readJson, writeDurable } from '../../durable-file.ts';
import type { WipeProof } from '../host.ts';
import type { NvmeDisk } from './host-tree/host-tree.ts';

/** Content of a disk: its allocation, and its image if it is a boot disk. */
export interface DiskLabel {
  allocation_id: string;
  image: string | null;
}

/** The disks of the simulated machine: the content of a disk is a folder named after its serial. */
export interface SimulatedDisks {
  folder(serial: string): string;
  /** Null for a blank disk, `foreign` for content without a label. */
  label(serial: string): Promise<DiskLabel | 'foreign' | null>;
  write(serial: string, label: DiskLabel): Promise<void>;
  /** Partitions and file systems as the kernel would show them; null for a blank disk. */
  layout(serial: string): Promise<DiskLayout | null>;
  homeFolder(serial: string): string;
  wipe(serial: string, options: { leaveResidue: boolean }): Promise<void>;
  verifyBlank(serial: string): Promise<WipeProof>;
}

export type DiskLayout = Pick<NvmeDisk, 'filesystem' | 'partitions'>;

const LABEL = 'label.json';
const LAYOUT = 'layout.json';
/** As images of clouds are: a partition table with an EFI system partition beside the root file system. */
const IMAGE_LAYOUT: DiskLayout = {
  partitions: [{ filesystem: 'ext4' }, { efi: true, filesystem: 'vfat' }],
};
/** Content that came without a description. */
const UNDESCRIBED: DiskLayout = { filesystem: 'ext4' };

export function openDisks(dir: string): SimulatedDisks {
  const folder = (serial: string): string => join(dir, 'disks', serial);
  const entries = async (serial: string): Promise<string[]> => {
    try {
      return await readdir(folder(serial));
    } catch (error) {
      if (isErrno(error, 'ENOENT')) return [];
      throw error;
    }
  };

  return {
    folder,
    homeFolder: (serial) => join(folder(serial), 'home'),
    async label(serial) {
      if ((await entries(serial)).length === 0) return null;
      return (await readJson<DiskLabel>(join(folder(serial), LABEL))) ?? 'foreign';
    },
    async write(serial, label) {
      await ensureFolder(folder(serial));
      await writeDurable(join(folder(serial), LABEL), `${JSON.stringify(label)}\n`);
      if (label.image === null) return;
      await ensureFolder(join(folder(serial), 'home'));
      await writeDurable(join(folder(serial), LAYOUT), `${JSON.stringify(IMAGE_LAYOUT)}\n`);
    },
    async layout(serial) {
      if ((await entries(serial)).length === 0) return null;
      return (await readJson<DiskLayout>(join(folder(serial), LAYOUT))) ?? UNDESCRIBED;
    },
    async wipe(serial, { leaveResidue }) {
      for (const name of await entries(serial)) {
        const path = join(folder(serial), name);
        await makeRemovable(path);
        await rm(path, { recursive: true, force: true });
      }
      await ensureFolder(folder(serial));
      if (leaveResidue) await writeFile(join(folder(serial), 'residue.bin'), 'data of the former tenant\n');
    },
    async verifyBlank(serial) {
      const left = await entries(serial);
      const residue = left.length === 0 ? '' : ` (${left[0]})`;
      return {
        verified: left.length === 0,
        verification: `simulated disk read back: ${left.length} entries left${residue}`,
        tools: [{ name: 'simulated-disk', version: AGENT_VERSION }],
      };
    },
  };
}

/** A tenant may have removed permissions that an agent without root needs to delete a folder. */
async function makeRemovable(path: string): Promise<void> {
  if (!(await lstat(path)).isDirectory()) return;
  await chmod(path, 0o700);
  for (const name of await readdir(path)) await makeRemovable(join(path, name));
}
