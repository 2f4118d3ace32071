import { slotsWanted, type Candidate, type PlacementRequest } from './candidate.ts';
import { enoughFreeAt } from './expected-at.ts';
import { lasting } from './filters/lasting.ts';
import { notPromised } from './filters/not-promised.ts';
import { countOf } from './slot-mask.ts';

/** Whether leases that end would make the node serve the request. */
export function mayServe(request: PlacementRequest, node: Candidate): boolean {
  return [...lasting, notPromised].every((filter) => filter.keeps(request, node));
}

/** The node where the request fits soonest by the leases with a known end; of equals the one with most room now. */
export function nodeToKeep<Node extends Candidate>(
  request: PlacementRequest,
  nodes: Iterable<Node>,
): Node | null {
  let best: { node: Node; at: number; free: number } | null = null;
  for (const node of nodes) {
    if (!mayServe(request, node)) continue;
    const at = enoughFreeAt(node, slotsWanted(request, node), Infinity);
    const free = countOf(node.free);
    const better =
      best === null ||
      at < best.at ||
      (at === best.at && (free > best.free || (free === best.free && node.nodeId < best.node.nodeId)));
    if (better) best = { node, at, free };
  }
  return best?.node ?? null;
}
