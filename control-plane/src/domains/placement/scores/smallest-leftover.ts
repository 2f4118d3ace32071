import { requiredSlots } from '../candidate.ts';
import { fitSlice } from '../layout.ts';
import type { Score } from './score.ts';

/** A NUMA crossing counts like one more GPU left over: alignment is worth that much packing and no more. */
export const smallestLeftover: Score = {
  name: 'smallest_leftover',
  reason:
    'the node that is left with the fewest free GPUs, so that clean nodes stay clean for whole-node leases',
  of: (request, node) => {
    const fit = fitSlice(node.layout, node.room, requiredSlots(request, node));
    return fit.leftover + fit.crossings;
  },
};
