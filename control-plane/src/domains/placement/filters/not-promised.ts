import type { NodePromise, PlacementRequest } from '../candidate.ts';
import type { Filter } from './filter.ts';

/** A lease that would overlap the time of somebody else's promise is not begun. */
export const notPromised: Filter = {
  name: 'not_promised',
  reason: 'promised to somebody else for part of the time',
  keeps: (request, node) => keepsPromises(request, node.promises ?? []),
};

export function keepsPromises(
  { now, endsAt, holders = [] }: PlacementRequest,
  promises: readonly NodePromise[],
): boolean {
  return promises.every(
    ({ holder, from, until }) => holders.includes(holder) || from >= endsAt || until <= now,
  );
}
