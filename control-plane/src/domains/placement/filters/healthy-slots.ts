import { slotsWithin } from '../candidate.ts';
import { countOf } from '../slot-mask.ts';
import type { Filter } from './filter.ts';
import { slotsInQuestion } from './slots-in-question.ts';

/**
 * Too few slots are healthy, whether they are configured or not; or those that are configured would be enough but for
 * their health.
 */
export const healthySlots: Filter = {
  name: 'healthy_slots',
  reason: 'whose slots are not healthy',
  keeps: (request, node) => {
    const wanted = slotsWithin(request, node);
    const slots = slotsInQuestion(node, wanted);
    if (countOf(slots & node.healthy) < wanted) return false;
    const configured = slots & node.configured;
    return countOf(configured) < wanted || countOf(configured & node.healthy) >= wanted;
  },
};
