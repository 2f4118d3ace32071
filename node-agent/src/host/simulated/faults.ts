import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  parseFaults,
  faultsForHost,
  SIMULATED_FAULTS,
  unknownFaults,
  type SimulatedFault,
} from '@gpuaas/contracts/simulated-faults';

export type HasFault = (fault: SimulatedFault) => boolean;

export interface Faults {
  has: HasFault;
  /** Removes a one-time fault, before it happens. */
  consume(fault: SimulatedFault): void;
}

/** A fault is named `wipe_fails`, or `wipe_fails@sim-h200-02` for one host. The file `faults` overrides at run time. */
export function openFaults(dir: string, hostname: string, configured: readonly string[]): Faults {
  for (const name of configured) checkName(name);
  const file = join(dir, 'faults');
  const current = (): readonly string[] => readOverride(file) ?? configured;
  return {
    has: (fault) => faultsForHost(hostname, current()).includes(fault),
    consume(fault) {
      const left = faultsForHost(hostname, current()).filter((standing) => standing !== fault);
      writeFileSync(file, `${left.join('\n')}\n`, { mode: 0o600 });
    },
  };
}

/** Which GPU reports an XID, and which falls off the bus. */
const FAULTY_SLOTS = { gpu_failing: 5, gpu_lost: 6 } as const;

export function faultyGpus(fault: keyof typeof FAULTY_SLOTS, hasFault: HasFault): number[] {
  return hasFault(fault) ? [FAULTY_SLOTS[fault]] : [];
}

export function isFailing(slot: { slot_index: number }, hasFault: HasFault): boolean {
  return faultyGpus('gpu_failing', hasFault).includes(slot.slot_index);
}

export function isLost(slot: { slot_index: number }, hasFault: HasFault): boolean {
  return faultyGpus('gpu_lost', hasFault).includes(slot.slot_index);
}

/** The slot whose disk counts as mounted under the fault `disk_mounted`. */
export const MOUNTED_SLOT = 7;
export const MOUNT_POINT = '/srv/scratch';

export function mountsOf(slot: { slot_index: number }, hasFault: HasFault): string[] {
  return slot.slot_index === MOUNTED_SLOT && hasFault('disk_mounted') ? [MOUNT_POINT] : [];
}

function readOverride(file: string): string[] | null {
  try {
    return parseFaults(readFileSync(file, 'utf8'));
  } catch {
    return null;
  }
}

function checkName(name: string): void {
  if (unknownFaults(name).length > 0) {
    throw new Error(`GPUAAS_SIM_FAULTS: ${name} is not known (known: ${SIMULATED_FAULTS.join(', ')})`);
  }
}
