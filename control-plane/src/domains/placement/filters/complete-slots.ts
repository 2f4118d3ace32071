import { requiredSlotsOnNode } from '../candidate.ts';
import { countSlots } from '../slot-mask.ts';
import type { Filter } from './filter.ts';
import { eligibleSlots } from './eligible-slots.ts';

export const completeSlots: Filter = {
  name: 'complete_slots',
  reason: 'whose slots are not completely configured',
  keeps: (request, node) => {
    const wanted = requiredSlotsOnNode(request, node);
    return countSlots(eligibleSlots(node, wanted) & node.configured) >= wanted;
  },
};
