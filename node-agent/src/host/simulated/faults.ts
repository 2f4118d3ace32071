import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  faultsIn,
  faultsOn,
  SIMULATED_FAULTS,
  unknownFaults,
  type SimulatedFault,
} from '@gpuaas/contracts/simulated-faults';

export type HasFault = (fault: SimulatedFault) => boolean;

export interface Faults {
  has: HasFault;
  /** Takes away a fault that happens once, before it happens. */
  consume(fault: SimulatedFault): void;
}

/** A fault is named `wipe_fails`, or `wipe_fails@sim-h200-02` for one host. The file `faults` overrides at run time. */
export function openFaults(dir: string, hostname: string, configured: readonly string[]): Faults {
  for (const name of configured) checkName(name);
  const file = join(dir, 'faults');
  const current = (): readonly string[] => readOverride(file) ?? configured;
  return {
    has: (fault) => faultsOn(hostname, current()).includes(fault),
    consume(fault) {
      const left = faultsOn(hostname, current()).filter((standing) => standing !== fault);
      writeFileSync(file, `${left.join('\n')}\n`, { mode: 0o600 });
    },
  };
}

/** The GPU that reports an XID under the fault `gpu_failing`. */
const FAILING_SLOT = 5;

export function isFailing(slot: { slot_index: number }, hasFault: HasFault): boolean {
  return slot.slot_index === FAILING_SLOT && hasFault('gpu_failing');
}

/** The GPU that falls off the bus under the fault `gpu_lost`. */
const LOST_SLOT = 6;

export function isLost(slot: { slot_index: number }, hasFault: HasFault): boolean {
  return slot.slot_index === LOST_SLOT && hasFault('gpu_lost');
}

function readOverride(file: string): string[] | null {
  try {
    return faultsIn(readFileSync(file, 'utf8'));
  } catch {
    return null;
  }
}

function checkName(name: string): void {
  if (unknownFaults(name).length > 0) {
    throw new Error(`GPUAAS_SIM_FAULTS: ${name} is not known (known: ${SIMULATED_FAULTS.join(', ')})`);
  }
}
