import { requiredSlotsOnNode } from '../candidate.ts';
import { countSlots } from '../slot-mask.ts';
import type { Filter } from './filter.ts';

/** A whole node must be clean: then every one of its slots is free. */
export const enoughFreeSlots: Filter = {
  name: 'enough_free_slots',
  reason: 'with too few free slots',
  keeps: (request, node) => countSlots(node.available) >= requiredSlotsOnNode(request, node),
};
