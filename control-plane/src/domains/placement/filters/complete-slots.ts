import { slotsWanted } from '../candidate.ts';
import { countOf } from '../slot-mask.ts';
import type { Filter } from './filter.ts';

/** Keeps a node that had too few free slots anyway: then its incomplete ones are not the reason. */
export const completeSlots: Filter = {
  name: 'complete_slots',
  reason: 'whose free slots are not completely configured',
  keeps: (request, node) => {
    const wanted = Math.min(slotsWanted(request, node), countOf(node.available));
    return countOf(node.complete) >= wanted;
  },
};
