import { slotsWanted, type Candidate, type PlacementRequest } from './candidate.ts';
import type { CandidateGroup } from './explain-refusal.ts';
import { enoughFreeSlots } from './filters/enough-free-slots.ts';
import { rejectionOf } from './rank.ts';
import { countOf } from './slot-mask.ts';

/**
 * The earliest time at which some node would serve the request if its leases end when they should; null if no known
 * end brings it. Wiping takes its time after that.
 */
export function expectedAt(request: PlacementRequest, groups: readonly CandidateGroup[]): number | null {
  let earliest = Infinity;
  for (const group of groups) {
    if (rejectionOf(request, group[0]!) !== enoughFreeSlots) continue;
    for (const node of group) {
      if (node.nextEnd >= earliest) continue;
      earliest = Math.min(earliest, enoughFreeAt(node, slotsWanted(request, node), earliest));
    }
  }
  return Number.isFinite(earliest) ? Math.max(earliest, request.now) : null;
}

/** When so many slots of the node are free, or infinity if that is not known or not before `bound`. */
export function enoughFreeAt(node: Candidate, wanted: number, bound: number): number {
  let { free } = node;
  const soon = node.leases.filter(({ endsAt }) => endsAt < bound).toSorted((a, b) => a.endsAt - b.endsAt);
  for (const lease of soon) {
    free |= lease.slots;
    if (countOf(free) >= wanted) return lease.endsAt;
  }
  return Infinity;
}
