import type { Candidate } from '../candidate.ts';
import { countOf, type SlotMask } from '../slot-mask.ts';

/**
 * Among which slots the request would be served: the free ones if they are enough, else all, since more room may come
 * of any of them. So "too few free slots" is the only reason only where freeing some would really do.
 */
export function slotsInQuestion(node: Candidate, wanted: number): SlotMask {
  return countOf(node.available) >= wanted ? node.available : node.layout.all;
}
