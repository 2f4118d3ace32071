import { slotsWanted } from '../candidate.ts';
import { fitOf } from '../layout.ts';
import type { Score } from './score.ts';

export const numaAligned: Score = {
  name: 'numa_aligned',
  reason: 'the node where the slice crosses the fewest NUMA nodes',
  of: (request, node) => fitOf(node.layout, node.room, slotsWanted(request, node)).crossings,
};
