import { slotsWanted, type Candidate, type PlacementRequest } from './candidate.ts';
import type { CandidateGroup } from './explain-refusal.ts';
import { lasting } from './filters/lasting.ts';
import { keepsPromises } from './filters/not-promised.ts';
import { countOf } from './slot-mask.ts';

/**
 * The earliest time at which some node would serve the request for as long as it asks, if its leases and promises end
 * when they should; null if no known end brings it. Wiping takes its time after that.
 */
export function expectedAt(request: PlacementRequest, groups: readonly CandidateGroup[]): number | null {
  let earliest = Infinity;
  for (const group of groups) {
    const like = group[0]!;
    if (!lasting.every((filter) => filter.keeps(request, like))) continue;
    if (countOf(like.configured & like.healthy) < slotsWanted(request, like)) continue;
    for (const node of group) earliest = Math.min(earliest, servesAt(request, node, earliest));
  }
  return Number.isFinite(earliest) ? earliest : null;
}

/** When the node would serve it, or infinity if that is not known or not before `bound`. */
function servesAt(request: PlacementRequest, node: Candidate, bound: number): number {
  const promises = node.promises ?? [];
  if (promises.length === 0 && node.nextEnd >= bound) return Infinity;
  const wanted = slotsWanted(request, node);
  const room = countOf(node.free) >= wanted ? request.now : enoughFreeAt(node, wanted, bound);
  const lasts = request.endsAt - request.now;
  // Room stays once it is there, so after that only the end of a promise can change the answer.
  const moments = [Math.max(room, request.now), ...promises.map(({ until }) => until)]
    .filter((at) => at >= room && at >= request.now && at < bound)
    .toSorted((a, b) => a - b);
  const fits = (at: number): boolean => keepsPromises({ ...request, now: at, endsAt: at + lasts }, promises);
  return moments.find(fits) ?? Infinity;
}

/** When so many slots of the node can be sold, or infinity if that is not known or not before `bound`. */
export function enoughFreeAt(node: Candidate, wanted: number, bound: number): number {
  let { free } = node;
  // A lease that ends leaves a slot as it is: what is unhealthy or not configured is not sold after it either.
  const sellable = node.configured & node.healthy;
  const soon = node.leases.filter(({ endsAt }) => endsAt < bound).toSorted((a, b) => a.endsAt - b.endsAt);
  for (const lease of soon) {
    free |= lease.slots & sellable;
    if (countOf(free) >= wanted) return lease.endsAt;
  }
  return Infinity;
}
