import { completeSlots } from './complete-slots.ts';
import { enoughFreeSlots } from './enough-free-slots.ts';
import type { Filter } from './filter.ts';
import { healthySlots } from './healthy-slots.ts';
import { permanentFilters } from './permanent-filters.ts';
import { notHeld } from './not-held.ts';

/** In the order in which they are applied; a node counts under the first that rejects it. */
export const filters: readonly Filter[] = [
  ...permanentFilters,
  notHeld,
  enoughFreeSlots,
  completeSlots,
  healthySlots,
];
