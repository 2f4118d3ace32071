import type { Allocation, Money } from '../api/types.ts';
import { addMoney, costOver } from '../format/money.ts';

/** Counts towards the spend rate: from observed active to the release request. */
export function isMetered(allocation: Allocation): boolean {
  return allocation.state === 'active' && allocation.release_requested_at === null;
}

/** The last cost the API gave, carried on at the quoted price. Needs no agreement between two clocks. */
export function liveCost(allocation: Allocation, fetchedAt: number, now: number): Money {
  if (!allocation.accruing) return allocation.cost_so_far;
  return addMoney(allocation.cost_so_far, costOver(allocation.quote.per_hour, Math.max(0, now - fetchedAt)));
}
