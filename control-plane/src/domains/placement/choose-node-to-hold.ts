import { requiredSlots, type Candidate, type PlacementRequest } from './candidate.ts';
import { whenSlotsFree } from './expected-at.ts';
import { permanentFilters } from './filters/permanent-filters.ts';
import { notHeld } from './filters/not-held.ts';
import { countSlots } from './slot-mask.ts';

/** Whether the node would serve the request if nobody else leased or reserved it. */
export function isOfFleetFor(request: PlacementRequest, node: Candidate): boolean {
  return permanentFilters.every((filter) => filter.keeps(request, node));
}

/** Whether leases that end would make the node serve the request. */
export function couldServe(request: PlacementRequest, node: Candidate): boolean {
  return isOfFleetFor(request, node) && notHeld.keeps(request, node);
}

/**
 * The node where the request fits soonest by leases with a known end; among equals the one with the most free
 * slots.
 */
export function chooseNodeToHold<Node extends Candidate>(
  request: PlacementRequest,
  nodes: Iterable<Node>,
): Node | null {
  let best: { node: Node; at: number; free: number } | null = null;
  for (const node of nodes) {
    if (!couldServe(request, node)) continue;
    const at = whenSlotsFree(node, requiredSlots(request, node), Infinity);
    const free = countSlots(node.free);
    const better =
      best === null ||
      at < best.at ||
      (at === best.at && (free > best.free || (free === best.free && node.nodeId < best.node.nodeId)));
    if (better) best = { node, at, free };
  }
  return best?.node ?? null;
}
