import type { SlotLayout } from './layout.ts';
import { countSlots, lowestSlots, type SlotMask } from './slot-mask.ts';

/**
 * Slots of one node for a slice: inside the NUMA node that they leave fullest, and there inside the PCIe root
 * that they leave fullest; if none is large enough, across as few as possible. Lowest index first.
 */
export function chooseSlots(layout: SlotLayout, free: SlotMask, gpus: number): SlotMask {
  return gather(free, gpus, layout.numa, (inNuma, count) =>
    gather(inNuma, count, layout.pcieRoots, lowestSlots),
  );
}

/** Takes from the smallest group that is large enough, else from the largest groups down. */
function gather(
  free: SlotMask,
  count: number,
  groups: readonly SlotMask[],
  takeFrom: (free: SlotMask, count: number) => SlotMask,
): SlotMask {
  const byRoom = groups
    .map((group) => free & group)
    .toSorted((a, b) => countSlots(a) - countSlots(b) || (a & -a) - (b & -b));
  const tightest = byRoom.find((group) => countSlots(group) >= count);
  if (tightest !== undefined) return takeFrom(tightest, count);
  let taken = 0;
  for (const group of byRoom.toReversed()) {
    taken |= takeFrom(group, Math.min(countSlots(group), count - countSlots(taken)));
  }
  return taken;
}
