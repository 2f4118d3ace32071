import { slotsWanted, type Candidate, type PlacementRequest } from './candidate.ts';
import { enoughFreeAt } from './expected-at.ts';
import { connected } from './filters/connected.ts';
import { gpuModel } from './filters/gpu-model.ts';
import { nodeMode } from './filters/node-mode.ts';
import { nodeSize } from './filters/node-size.ts';
import { notCordoned } from './filters/not-cordoned.ts';
import { notDraining } from './filters/not-draining.ts';
import { notPromised } from './filters/not-promised.ts';
import { region } from './filters/region.ts';
import { countOf } from './slot-mask.ts';

/** What waiting does not change. */
const lasting = [region, gpuModel, nodeMode, nodeSize, connected, notDraining, notCordoned, notPromised];

/** Whether leases that end would make the node serve the request. */
export function mayServe(request: PlacementRequest, node: Candidate): boolean {
  return lasting.every((filter) => filter.keeps(request, node));
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
