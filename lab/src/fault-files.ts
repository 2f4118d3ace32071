import { randomUUID } from 'node:crypto';
import { readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { faultsIn, faultsOn, listFaults, type SimulatedFault } from '@gpuaas/contracts/simulated-faults';

/** Sets, lifts and reads the faults of simulated hosts by the file that each of them looks at. */
export interface FaultFiles {
  hostnames(): Promise<string[]>;
  faultsOf(hostname: string): Promise<SimulatedFault[]>;
  setFaults(hostname: string, faults: readonly SimulatedFault[]): Promise<void>;
}

export interface FaultFilesOptions {
  /** Each host keeps its state in a folder of its own name in here. */
  stateDir: string;
  /** As GPUAAS_SIM_FAULTS: what holds where nothing was set since. */
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
      return faultsOn(hostname, set === null ? listFaults(configured) : faultsIn(set));
    },
    async setFaults(hostname, faults) {
      // Renamed into place: the host may look at any moment.
      const draft = `${fileOf(hostname)}.${randomUUID()}`;
      await writeFile(draft, `${faults.join('\n')}\n`, { mode: 0o600 });
      await rename(draft, fileOf(hostname));
    },
  };
}
