import { randomUUID } from 'node:crypto';
import { readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  parseFaults,
  faultsForHost,
  listFaults,
  type SimulatedFault,
} from '@gpuaas/contracts/simulated-faults';

/** Sets, clears and reads the faults of simulated hosts through the file that each of them polls. */
export interface FaultFiles {
  hostnames(): Promise<string[]>;
  faultsOf(hostname: string): Promise<SimulatedFault[]>;
  setFaults(hostname: string, faults: readonly SimulatedFault[]): Promise<void>;
}

export interface FaultFilesOptions {
  /** Each host stores its state in a folder with its name in here. */
  stateDir: string;
  /** As GPUAAS_SIM_FAULTS: faults in effect until they are changed. */
  configured: string;
}

export function openFaultFiles({ stateDir, configured }: FaultFilesOptions): FaultFiles {
  const fileOf = (hostname: string): string => join(stateDir, hostname, 'faults');
  return {
    async hostnames() {
      const entries = await readdir(stateDir, { withFileTypes: true }).catch(() => []);
      return entries
        .filter((entry) => entry.isDirectory())
        .map((entry) => entry.name)
        .toSorted();
    },
    async faultsOf(hostname) {
      const set = await readFile(fileOf(hostname), 'utf8').catch(() => null);
      return faultsForHost(hostname, set === null ? listFaults(configured) : parseFaults(set));
    },
    async setFaults(hostname, faults) {
      // Renamed into place: the host may read it at any moment.
      const draft = `${fileOf(hostname)}.${randomUUID()}`;
      await writeFile(draft, `${faults.join('\n')}\n`, { mode: 0o600 });
      await rename(draft, fileOf(hostname));
    },
  };
}
