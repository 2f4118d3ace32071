import type { CandidateSlot } from '@gpuaas/contracts/tasks';

export type Locality = NonNullable<CandidateSlot['nvme_locality']>;

export interface DeviceLocation {
  path: string[];
  numaNode: number;
}

const RANK: Record<Locality, number> = { same_switch: 0, same_root: 1, same_numa: 2, remote: 3 };

/** Deeper than any tree of PCIe bridges. */
const MAX_DEPTH = 1_000;

/** Devices under one bridge reach each other without the CPU. */
export function localityOf(a: DeviceLocation, b: DeviceLocation): Locality {
  const shared = sharedSteps(a, b);
  if (shared >= 2) return 'same_switch';
  if (shared === 1) return 'same_root';
  return a.numaNode === b.numaNode ? 'same_numa' : 'remote';
}

/** Smaller is nearer; under one root the devices that share more bridges. */
export function distance(a: DeviceLocation, b: DeviceLocation): number {
  return RANK[localityOf(a, b)] * MAX_DEPTH - sharedSteps(a, b);
}

function sharedSteps(a: DeviceLocation, b: DeviceLocation): number {
  const end = a.path.findIndex((step, index) => step !== b.path[index]);
  return end === -1 ? a.path.length : end;
}
