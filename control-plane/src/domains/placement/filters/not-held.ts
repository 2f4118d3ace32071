import type { NodeHold, PlacementRequest } from '../candidate.ts';
import type { Filter } from './filter.ts';

/** Rejects a lease that would overlap another holder's hold. */
export const notHeld: Filter = {
  name: 'not_promised',
  reason: 'promised to somebody else for part of the time',
  keeps: (request, node) => respectsHolds(request, node.promises ?? []),
};

/** The SQL function `respects_promise` computes the same for one hold; a test compares the two. */
export function respectsHolds(
  { now, endsAt, holders = [] }: PlacementRequest,
  promises: readonly NodeHold[],
): boolean {
  return promises.every(
    ({ holder, from, until }) => holders.includes(holder) || from >= endsAt || until <= now,
  );
}
