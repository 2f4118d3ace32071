import type { CandidateSlot } from './place-slice.ts';

/**
 * Slots of one node for a slice: inside the NUMA node that they leave fullest, then across as few as possible,
 * lowest index first.
 */
export function chooseSlots(free: readonly CandidateSlot[], count: number): CandidateSlot[] {
  const byNuma = Map.groupBy(free, (slot) => slot.numaNode);
  const groups = [...byNuma.entries()]
    .map(([numaNode, slots]) => ({ numaNode, slots: slots.toSorted((a, b) => a.slotIndex - b.slotIndex) }))
    .toSorted((a, b) => a.slots.length - b.slots.length || a.numaNode - b.numaNode);
  const tightest = groups.find((group) => group.slots.length >= count);
  if (tightest) return tightest.slots.slice(0, count);
  return groups
    .toReversed()
    .flatMap((group) => group.slots)
    .slice(0, count);
}
