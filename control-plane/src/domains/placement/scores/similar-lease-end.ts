import { OPEN_ENDED } from '../candidate.ts';
import type { Score } from './score.ts';

export const similarLeaseEnd: Score = {
  name: 'ends_together',
  reason: 'the node whose last lease ends nearest to this one, so that they leave together',
  of: (request, node) =>
    request.endsAt === OPEN_ENDED ? -node.busyUntil : Math.abs(node.busyUntil - request.endsAt),
};
