import type { Candidate, CapacityShape, PlacementRequest } from './candidate.ts';
import { expectedAt } from './expected-at.ts';
import { filters } from './filters/filters.ts';
import { firstRejection } from './best-node.ts';

/** Nodes that no filter distinguishes; never empty. */
export type CandidateGroup = readonly Candidate[];

/** Every node as its own group, for unsorted nodes. */
export function ungroupedCandidates(nodes: readonly Candidate[]): CandidateGroup[] {
  return nodes.map((node) => [node]);
}

export interface Rejection {
  filter: string;
  reason: string;
  /** Nodes for which this is the first obstacle; over all filters they add up to all nodes. */
  nodes: number;
  /** Nodes rejected by this filter only: each would fit without it. */
  nodesOtherwiseFitting: number;
}

export interface Refusal {
  rejections: Rejection[];
  /** The largest smaller size that would be placed now. */
  nearest: { shape: CapacityShape; gpus: number } | null;
  /** When a node may have capacity, by leases with a known end. */
  expectedAt: number | null;
}

/** Why nothing fits, which size would, and when. `counts` are the product's GPU counts. */
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

/** Number of rejected nodes per filter. */
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

/** The largest smaller count of the same product: a slice does not replace a whole node. */
function nearestFit(
  request: PlacementRequest,
  groups: readonly CandidateGroup[],
  counts: readonly number[],
): Refusal['nearest'] {
  const { shape } = request;
  for (const gpus of counts.filter((count) => count < request.gpus).toSorted((a, b) => b - a)) {
    const smaller: PlacementRequest = { ...request, gpus };
    if (groups.some(([node]) => firstRejection(smaller, node!) === null)) return { shape, gpus };
  }
  return null;
}
