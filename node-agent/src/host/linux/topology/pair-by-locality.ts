import { distance, type DeviceLocation } from './locality.ts';

export interface LocatedDevice extends DeviceLocation {
  address: string;
  /** Used only when no better part is left. */
  lastResort: boolean;
}

/**
 * Gives each GPU at most one part, and no part to two GPUs. The nearest pairs are matched first, so that no
 * GPU takes a part that is closer to another; ties go by address, so that a host always gives the same slots.
 */
export function pairByLocality<P extends LocatedDevice>(
  gpus: readonly (DeviceLocation & { address: string })[],
  parts: readonly P[],
): Map<string, P> {
  const pairs = gpus.flatMap((gpu) =>
    parts.map((part) => ({ gpu: gpu.address, part, far: distance(gpu, part) })),
  );
  pairs.sort(
    (a, b) =>
      Number(a.part.lastResort) - Number(b.part.lastResort) ||
      a.far - b.far ||
      byText(a.gpu, b.gpu) ||
      byText(a.part.address, b.part.address),
  );
  const chosen = new Map<string, P>();
  const taken = new Set<P>();
  for (const { gpu, part } of pairs) {
    if (chosen.has(gpu) || taken.has(part)) continue;
    chosen.set(gpu, part);
    taken.add(part);
  }
  return chosen;
}

function byText(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
