import type { Filter } from './filter.ts';

/** A lease that would overlap the time of somebody else's promise is not begun. */
export const notPromised: Filter = {
  name: 'not_promised',
  reason: 'promised to somebody else for part of the time',
  keeps: ({ now, endsAt, holders = [] }, node) =>
    (node.promises ?? []).every(
      ({ holder, from, until }) => holders.includes(holder) || from >= endsAt || until <= now,
    ),
};
