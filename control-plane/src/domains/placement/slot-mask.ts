/** A set of slots of one node as bits: bit i is the slot with index i. */
export type SlotMask = number;

export const MAX_SLOTS = 16;

const counts = new Uint8Array(1 << MAX_SLOTS);
for (let mask = 1; mask < counts.length; mask += 1) counts[mask] = counts[mask >> 1]! + (mask & 1);

export function countSlots(mask: SlotMask): number {
  return counts[mask]!;
}

export function toMask(indexes: Iterable<number>): SlotMask {
  let mask = 0;
  for (const index of indexes) mask |= 1 << index;
  return mask;
}

/** Slot indexes of the set, lowest first. */
export function toIndexes(mask: SlotMask): number[] {
  const indexes: number[] = [];
  for (let index = 0; mask >> index > 0; index += 1) {
    if ((mask >> index) & 1) indexes.push(index);
  }
  return indexes;
}

/** The `count` lowest slots of the set. */
export function lowestSlots(mask: SlotMask, count: number): SlotMask {
  let rest = mask;
  for (let taken = 0; taken < count; taken += 1) rest &= rest - 1;
  return mask & ~rest;
}
