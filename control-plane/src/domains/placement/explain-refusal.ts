import type { Candidate, CapacityShape, PlacementRequest } from './candidate.ts';
import { expectedAt } from './expected-at.ts';
import { filters } from './filters/all.ts';
import { rejectionOf } from './rank.ts';

/** Nodes that no filter can tell apart; never empty. */
export type CandidateGroup = readonly Candidate[];

/** Every node by itself, where nothing has sorted them. */
export function eachAlone(nodes: readonly Candidate[]): CandidateGroup[] {
  return nodes.map((node) => [node]);
}

export interface Rejection {
  filter: string;
  reason: string;
  /** Nodes for which this is the first obstacle; over all filters they add up to all nodes. */
  nodes: number;
  /** Nodes for which it is the only obstacle: one of them would do once it is gone. */
  nodesOtherwiseFitting: number;
}

export interface Refusal {
  rejections: Rejection[];
  /** The largest smaller one that would be placed now. */
  nearest: { shape: CapacityShape; gpus: number } | null;
  /** When a node may have room, by the leases whose end is known. */
  expectedAt: number | null;
}

/** Why nothing fits, what would, and when. `counts` are the GPU counts that the product is sold in. */
export function explainRefusal(
  request: PlacementRequest,
  groups: readonly CandidateGroup[],
  counts: readonly number[],
): Refusal {
  return {
    rejections: countRejections(request, groups),
    nearest: nearestFit(request, groups, counts),
    expectedAt: expectedAt(request, groups),
  };
}

/** Per filter, how many nodes it stands against. */
export function countRejections(request: PlacementRequest, groups: readonly CandidateGroup[]): Rejection[] {
  const rejections = filters.map(({ name, reason }) => ({
    filter: name,
    reason,
    nodes: 0,
    nodesOtherwiseFitting: 0,
  }));
  for (const group of groups) {
    const against = rejections.filter((_, position) => !filters[position]!.keeps(request, group[0]!));
    if (against[0]) against[0].nodes += group.length;
    if (against.length === 1) against[0]!.nodesOtherwiseFitting += group.length;
  }
  return rejections.filter(({ nodes }) => nodes > 0);
}

/** The largest smaller count of the same product: a slice is no answer to who asks for a whole node. */
function nearestFit(
  request: PlacementRequest,
  groups: readonly CandidateGroup[],
  counts: readonly number[],
): Refusal['nearest'] {
  const { shape } = request;
  for (const gpus of counts.filter((count) => count < request.gpus).toSorted((a, b) => b - a)) {
    const smaller: PlacementRequest = { ...request, gpus };
    if (groups.some(([node]) => rejectionOf(smaller, node!) === null)) return { shape, gpus };
  }
  return null;
}
