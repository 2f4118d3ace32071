import { requiredSlots, type Candidate, type PlacementRequest } from './candidate.ts';
import { chooseSlots } from './choose-slots.ts';
import { ungroupedCandidates, explainRefusal, type Refusal } from './explain-refusal.ts';
import { PlacementIndex } from './placement-index.ts';
import { bestNode } from './best-node.ts';
import type { SlotMask } from './slot-mask.ts';

export type Placement = { fits: true; node: Candidate; slots: SlotMask } | ({ fits: false } & Refusal);

/**
 * Chooses one node and its slots, or explains why nothing fits. Pure and deterministic, independent of the
 * order of nodes. `counts` are the product's GPU counts.
 */
export function place(
  request: PlacementRequest,
  nodes: PlacementIndex | readonly Candidate[],
  counts: readonly number[],
): Placement {
  const indexed = nodes instanceof PlacementIndex;
  const node = indexed ? nodes.best(request) : bestNode(request, nodes);
  if (node)
    return { fits: true, node, slots: chooseSlots(node.layout, node.free, requiredSlots(request, node)) };
  const groups = indexed ? nodes.groups() : ungroupedCandidates(nodes);
  return { fits: false, ...explainRefusal(request, groups, counts) };
}
