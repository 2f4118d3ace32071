import type { Candidate, PlacementRequest } from './candidate.ts';
import { filters } from './filters/filters.ts';
import { compare } from './best-node.ts';
import { scores } from './scores/scores.ts';

export interface RankedNode<N extends Candidate> {
  node: N;
  /** Every filter against it, not only the first. */
  rejectedBy: string[];
  /** In order of weight; only of a node that can serve. */
  scores: { score: string; value: number }[];
}

/** Nodes that fit, in ranking order, then those that miss by the least. */
export function nearestNodes<N extends Candidate>(
  request: PlacementRequest,
  nodes: readonly N[],
  limit: number,
): RankedNode<N>[] {
  return nodes
    .map((node) => {
      const rejectedBy = filters.filter((filter) => !filter.keeps(request, node)).map(({ name }) => name);
      return { node, rejectedBy };
    })
    .toSorted((a, b) => a.rejectedBy.length - b.rejectedBy.length || closer(request, a, b))
    .slice(0, limit)
    .map(({ node, rejectedBy }) => ({
      node,
      rejectedBy,
      scores:
        rejectedBy.length > 0
          ? []
          : scores.map((score) => ({ score: score.name, value: score.of(request, node) })),
    }));
}

interface Judged {
  node: Candidate;
  rejectedBy: string[];
}

function closer(request: PlacementRequest, a: Judged, b: Judged): number {
  if (a.rejectedBy.length === 0) return compare(request, a.node, b.node);
  return b.node.room.free - a.node.room.free || (a.node.nodeId < b.node.nodeId ? -1 : 1);
}
