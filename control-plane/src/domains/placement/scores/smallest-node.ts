import type { Score } from './score.ts';

export const smallestNode: Score = {
  name: 'smallest_node',
  reason: 'the smaller node, since only large ones can serve large requests',
  of: (_request, node) => node.layout.size,
};
