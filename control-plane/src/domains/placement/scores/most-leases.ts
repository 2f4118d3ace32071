import type { Score } from './score.ts';

export const mostLeases: Score = {
  name: 'most_leases',
  reason: 'the node with the most leases, since it is the last to become clean anyway',
  of: (_request, node) => -node.leases.length,
};
