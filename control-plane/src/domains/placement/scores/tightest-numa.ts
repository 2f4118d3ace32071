import { requiredSlots } from '../candidate.ts';
import { fitSlice } from '../layout.ts';
import type { Score } from './score.ts';

export const tightestNuma: Score = {
  name: 'tightest_numa',
  reason: 'the NUMA node that is left with the fewest free GPUs, so that others stay whole',
  of: (request, node) => fitSlice(node.layout, node.room, requiredSlots(request, node)).leftoverInNuma,
};
