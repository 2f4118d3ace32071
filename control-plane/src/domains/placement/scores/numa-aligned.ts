import { requiredSlots } from '../candidate.ts';
import { fitSlice } from '../layout.ts';
import type { Score } from './score.ts';

export const numaAligned: Score = {
  name: 'numa_aligned',
  reason: 'the node where the slice crosses the fewest NUMA nodes',
  of: (request, node) => fitSlice(node.layout, node.room, requiredSlots(request, node)).crossings,
};
