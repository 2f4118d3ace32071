import { slotsWithin } from '../candidate.ts';
import { countOf } from '../slot-mask.ts';
import type { Filter } from './filter.ts';
import { slotsInQuestion } from './slots-in-question.ts';

export const completeSlots: Filter = {
  name: 'complete_slots',
  reason: 'whose slots are not completely configured',
  keeps: (request, node) => {
    const wanted = slotsWithin(request, node);
    return countOf(slotsInQuestion(node, wanted) & node.configured) >= wanted;
  },
};
