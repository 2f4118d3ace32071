import { join } from 'node:path';
import { ensureFolder, readJson, writeDurable } from '../../../durable-file.ts';
import { seedFolder } from '../../../slices/cloud-init-seed.ts';
import type { GuestFacts } from '../../host.ts';

interface Records {
  /** The image was written to the boot disk and compared. */
  image: { digest: string };
  /** The start of the machine that `started_at` belongs to. */
  started: { bootId: string; pid: number; startTicks: number; started_at: string; address: string };
  /** Written before the agent's key is removed from the guest: after that no check is possible. */
  checked: Pick<GuestFacts, 'started_at' | 'readiness'>;
  ready: GuestFacts;
}

/** The agent's record of one machine, stored beside its seed and deleted with it. */
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
