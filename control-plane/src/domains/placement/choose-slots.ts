import type { Layout } from './layout.ts';
import { countOf, lowestOf, type SlotMask } from './slot-mask.ts';

/**
 * Slots of one node for a slice: inside the NUMA node that they leave fullest, and there inside the PCIe root that
 * they leave fullest; where none has room, across as few as possible. Lowest index first.
 */
export function chooseSlots(layout: Layout, free: SlotMask, gpus: number): SlotMask {
  return gather(free, gpus, layout.numa, (inNuma, count) =>
    gather(inNuma, count, layout.pcieRoots, lowestOf),
  );
}

/** Takes from the group with the least room that is enough, else from the roomiest groups on. */
function gather(
  free: SlotMask,
  count: number,
  groups: readonly SlotMask[],
  takeFrom: (free: SlotMask, count: number) => SlotMask,
): SlotMask {
  const byRoom = groups
    .map((group) => free & group)
    .toSorted((a, b) => countOf(a) - countOf(b) || (a & -a) - (b & -b));
  const tightest = byRoom.find((group) => countOf(group) >= count);
  if (tightest !== undefined) return takeFrom(tightest, count);
  let taken = 0;
  for (const group of byRoom.toReversed()) {
    taken |= takeFrom(group, Math.min(countOf(group), count - countOf(taken)));
  }
  return taken;
}
