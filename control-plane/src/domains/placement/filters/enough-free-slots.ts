import { slotsWanted } from '../candidate.ts';
import { countOf } from '../slot-mask.ts';
import type { Filter } from './filter.ts';

/** A whole node must be clean: then every one of its slots is free. */
export const enoughFreeSlots: Filter = {
  name: 'enough_free_slots',
  reason: 'with too few free slots',
  keeps: (request, node) => {
    const within = Math.min(slotsWanted(request, node), node.layout.size);
    return countOf(node.available) >= within;
  },
};
