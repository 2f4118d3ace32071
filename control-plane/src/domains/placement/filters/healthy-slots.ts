import { requiredSlotsOnNode } from '../candidate.ts';
import { countSlots } from '../slot-mask.ts';
import type { Filter } from './filter.ts';
import { eligibleSlots } from './eligible-slots.ts';

/**
 * Too few slots are healthy, configured or not; or enough are configured but too few of those are healthy.
 */
export const healthySlots: Filter = {
  name: 'healthy_slots',
  reason: 'whose slots are not healthy',
  keeps: (request, node) => {
    const wanted = requiredSlotsOnNode(request, node);
    const slots = eligibleSlots(node, wanted);
    if (countSlots(slots & node.healthy) < wanted) return false;
    const configured = slots & node.configured;
    return countSlots(configured) < wanted || countSlots(configured & node.healthy) >= wanted;
  },
};
