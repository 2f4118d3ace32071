import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** What the lab can break, and what it looks like from outside. */
export const FAULTS = [
  'wipe_fails',
  'vm_never_boots',
  'slow_clone',
  'disk_mounted',
  'iommu_off',
  'sriov_off',
  'reboot_required',
] as const;
export type Fault = (typeof FAULTS)[number];

export type HasFault = (fault: Fault) => boolean;

/** A fault is named `wipe_fails`, or `wipe_fails@sim-h200-02` for one host. The file `faults` overrides at run time. */
export function createFaults(dir: string, hostname: string, configured: readonly string[]): HasFault {
  for (const name of configured) checkName(name);
  return (fault) => {
    const names = readOverride(join(dir, 'faults')) ?? configured;
    return names.some((name) => name === fault || name === `${fault}@${hostname}`);
  };
}

function readOverride(file: string): string[] | null {
  try {
    return readFileSync(file, 'utf8')
      .split(/[\s,]+/)
      .filter((name) => name !== '');
  } catch {
    return null;
  }
}

function checkName(name: string): void {
  const [fault] = name.split('@');
  if (!FAULTS.some((known) => known === fault)) {
    throw new Error(`GPUAAS_SIM_FAULTS: ${name} is not known (known: ${FAULTS.join(', ')})`);
  }
}
