import { slotsWanted } from '../candidate.ts';
import { fitOf } from '../layout.ts';
import type { Score } from './score.ts';

export const tightestNuma: Score = {
  name: 'tightest_numa',
  reason: 'the NUMA node that is left with the fewest free GPUs, so that others stay whole',
  of: (request, node) => fitOf(node.layout, node.room, slotsWanted(request, node)).leftoverInNuma,
};
