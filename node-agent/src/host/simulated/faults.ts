import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SIMULATED_FAULTS, unknownFaults, type SimulatedFault } from '@gpuaas/contracts/simulated-faults';

export type HasFault = (fault: SimulatedFault) => boolean;

/** A fault is named `wipe_fails`, or `wipe_fails@sim-h200-02` for one host. The file `faults` overrides at run time. */
export function createFaults(dir: string, hostname: string, configured: readonly string[]): HasFault {
  for (const name of configured) checkName(name);
  return (fault) => {
    const names = readOverride(join(dir, 'faults')) ?? configured;
    return names.some((name) => name === fault || name === `${fault}@${hostname}`);
  };
}

/** The GPU that falls off the bus under the fault `gpu_lost`. */
const LOST_SLOT = 6;

export function isLost(slot: { slot_index: number }, hasFault: HasFault): boolean {
  return slot.slot_index === LOST_SLOT && hasFault('gpu_lost');
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
  if (unknownFaults(name).length > 0) {
    throw new Error(`GPUAAS_SIM_FAULTS: ${name} is not known (known: ${SIMULATED_FAULTS.join(', ')})`);
  }
}
