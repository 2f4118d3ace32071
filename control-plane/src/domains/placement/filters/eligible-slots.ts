import type { Candidate } from '../candidate.ts';
import { countSlots, type SlotMask } from '../slot-mask.ts';

/**
 * Slots that could serve the request: the free ones if they are enough, else all, since any of them may
 * become free. So "too few free slots" is the only reason only if freeing some would really help.
 */
export function eligibleSlots(node: Candidate, wanted: number): SlotMask {
  return countSlots(node.available) >= wanted ? node.available : node.layout.all;
}
