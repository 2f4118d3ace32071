import { join } from 'node:path';
import { ensureFolder, readJson, writeDurable } from '../../../durable-file.ts';
import { seedFolder } from '../../../slices/cloud-init-seed.ts';
import type { GuestFacts } from '../../host.ts';

interface Records {
  /** Written before the first byte of the image: from then on the disk is this allocation's to wipe. */
  cloning: { serials: string[] };
  /** The image stands on the boot disk and was compared. */
  image: { digest: string };
  /** Which start of the machine `started_at` belongs to. */
  started: { bootId: string; pid: number; startTicks: number; started_at: string; address: string };
  /** Written before the agent's key is taken out of the guest: from then on nobody can look again. */
  checked: Pick<GuestFacts, 'started_at' | 'readiness'>;
  ready: GuestFacts;
}

/** What the agent remembers of one machine, beside its seed and gone with it. */
export interface SliceRecord {
  folder: string;
  read<K extends keyof Records>(what: K): Promise<Records[K] | null>;
  write<K extends keyof Records>(what: K, value: Records[K]): Promise<void>;
}

export function openSliceRecord(dir: string, allocationId: string): SliceRecord {
  const folder = seedFolder(dir, allocationId);
  return {
    folder,
    read: (what) => readJson(join(folder, `${what}.json`)),
    async write(what, value) {
      await ensureFolder(folder);
      await writeDurable(join(folder, `${what}.json`), `${JSON.stringify(value)}\n`);
    },
  };
}
