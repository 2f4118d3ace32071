import type { Allocation, Money } from '../api/types.ts';
import { plus, priceOver } from '../format/money.ts';

/** The meter runs from observed active to the release request. */
export function isMetered(allocation: Allocation): boolean {
  return allocation.state === 'active' && allocation.release_requested_at === null;
}

/** The last cost the API gave, carried on at the quoted price. Needs no agreement between two clocks. */
export function costNow(allocation: Allocation, fetchedAt: number, now: number): Money {
  if (!isMetered(allocation)) return allocation.cost_so_far;
  return plus(allocation.cost_so_far, priceOver(allocation.quote.per_hour, Math.max(0, now - fetchedAt)));
}
