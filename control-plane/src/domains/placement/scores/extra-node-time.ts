import { OPEN_ENDED } from '../candidate.ts';
import type { Score } from './score.ts';

/**
 * How much longer the node would stay in use, weighted by its size squared: for the GPUs that delay a clean
 * node, and because large clean nodes are the scarcest. Without a known end all nodes are equal.
 */
export const extraNodeTime: Score = {
  name: 'time_opened',
  reason: 'the node that stays in use least longer, so that whole nodes come free early',
  of: (request, node) => {
    if (request.endsAt === OPEN_ENDED || node.busyUntil >= request.endsAt) return 0;
    const { size } = node.layout;
    return (request.endsAt - Math.max(node.busyUntil, request.now)) * size * size;
  },
};
