import { slotsWanted, type Candidate, type PlacementRequest } from './candidate.ts';
import { chooseSlots } from './choose-slots.ts';
import { eachAlone, explainRefusal, type Refusal } from './explain-refusal.ts';
import { PlacementIndex } from './placement-index.ts';
import { bestOf } from './rank.ts';
import type { SlotMask } from './slot-mask.ts';

export type Placement = { fits: true; node: Candidate; slots: SlotMask } | ({ fits: false } & Refusal);

/**
 * Chooses one node and its slots, or says why nothing fits. Pure and deterministic: the same nodes and request give
 * the same answer, whatever their order. `counts` are the GPU counts that the product is sold in.
 */
export function place(
  request: PlacementRequest,
  nodes: PlacementIndex | readonly Candidate[],
  counts: readonly number[],
): Placement {
  const indexed = nodes instanceof PlacementIndex;
  const node = indexed ? nodes.best(request) : bestOf(request, nodes);
  if (node)
    return { fits: true, node, slots: chooseSlots(node.layout, node.free, slotsWanted(request, node)) };
  const groups = indexed ? nodes.groups() : eachAlone(nodes);
  return { fits: false, ...explainRefusal(request, groups, counts) };
}
