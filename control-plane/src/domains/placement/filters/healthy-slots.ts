import { slotsWanted } from '../candidate.ts';
import { countOf } from '../slot-mask.ts';
import type { Filter } from './filter.ts';

export const healthySlots: Filter = {
  name: 'healthy_slots',
  reason: 'whose free slots are not healthy',
  keeps: (request, node) => {
    const wanted = Math.min(slotsWanted(request, node), countOf(node.complete));
    return countOf(node.free) >= wanted;
  },
};
