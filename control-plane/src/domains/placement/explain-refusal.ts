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
  /** The nearest that would be placed now. */
  nearest: { shape: CapacityShape; gpus: number } | null;
  /** When a node may have room, by the leases whose end is known. */
  expectedAt: number | null;
}

/** Why nothing fits, what would, and when. `counts` are the GPU counts that may be asked for as a slice. */
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

/** The largest smaller slice; for a whole node the largest slice at all. */
function nearestFit(
  request: PlacementRequest,
  groups: readonly CandidateGroup[],
  counts: readonly number[],
): Refusal['nearest'] {
  const smaller = counts
    .filter((gpus) => gpus < request.gpus || request.shape === 'baremetal')
    .toSorted((a, b) => b - a);
  for (const gpus of smaller) {
    const slice: PlacementRequest = { ...request, shape: 'gpu_slice', gpus };
    if (groups.some(([node]) => rejectionOf(slice, node!) === null)) return { shape: 'gpu_slice', gpus };
  }
  return null;
}
