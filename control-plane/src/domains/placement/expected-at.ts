import { requiredSlots, type Candidate, type PlacementRequest } from './candidate.ts';
import type { CandidateGroup } from './explain-refusal.ts';
import { permanentFilters } from './filters/permanent-filters.ts';
import { respectsHolds } from './filters/not-held.ts';
import { countSlots } from './slot-mask.ts';

/**
 * The earliest time at which some node could serve the request for its whole duration, if leases and holds
 * end as planned; null if no known end helps. Wiping takes additional time.
 */
export function expectedAt(request: PlacementRequest, groups: readonly CandidateGroup[]): number | null {
  let earliest = Infinity;
  for (const group of groups) {
    const like = group[0]!;
    if (!permanentFilters.every((filter) => filter.keeps(request, like))) continue;
    if (countSlots(like.configured & like.healthy) < requiredSlots(request, like)) continue;
    for (const node of group) earliest = Math.min(earliest, servesAt(request, node, earliest));
  }
  return Number.isFinite(earliest) ? earliest : null;
}

/** When the node would serve it, or infinity if that is not known or not before `bound`. */
function servesAt(request: PlacementRequest, node: Candidate, bound: number): number {
  const promises = node.promises ?? [];
  if (promises.length === 0 && node.nextEnd >= bound) return Infinity;
  const wanted = requiredSlots(request, node);
  const room = countSlots(node.free) >= wanted ? request.now : whenSlotsFree(node, wanted, bound);
  const lasts = request.endsAt - request.now;
  // Capacity only grows with ends, so after that only the end of a hold can change the result.
  const moments = [Math.max(room, request.now), ...promises.map(({ until }) => until)]
    .filter((at) => at >= room && at >= request.now && at < bound)
    .toSorted((a, b) => a - b);
  const fits = (at: number): boolean => respectsHolds({ ...request, now: at, endsAt: at + lasts }, promises);
  return moments.find(fits) ?? Infinity;
}

/** When this many slots of the node can be leased; infinity if unknown or not before `bound`. */
export function whenSlotsFree(node: Candidate, wanted: number, bound: number): number {
  let { free } = node;
  // The end of a lease does not repair a slot: unhealthy or incomplete slots stay unusable.
  const sellable = node.configured & node.healthy;
  const soon = node.leases.filter(({ endsAt }) => endsAt < bound).toSorted((a, b) => a.endsAt - b.endsAt);
  for (const lease of soon) {
    free |= lease.slots & sellable;
    if (countSlots(free) >= wanted) return lease.endsAt;
  }
  return Infinity;
}
