import type { Candidate, PlacementRequest } from './candidate.ts';
import { filters } from './filters/filters.ts';
import type { Filter } from './filters/filter.ts';
import { scores } from './scores/scores.ts';

/** The first filter that rejects the node, or null if it can serve the request. */
export function firstRejection(request: PlacementRequest, node: Candidate): Filter | null {
  for (const filter of filters) {
    if (!filter.keeps(request, node)) return filter;
  }
  return null;
}

/** Negative if `a` serves the request better than `b`. A total order: node ids break ties. */
export function compare(request: PlacementRequest, a: Candidate, b: Candidate): number {
  for (const score of scores) {
    const left = score.of(request, a);
    const right = score.of(request, b);
    if (left !== right) return left < right ? -1 : 1;
  }
  return a.nodeId < b.nodeId ? -1 : a.nodeId > b.nodeId ? 1 : 0;
}

/** The node that serves the request best, or null if none can. */
export function bestNode(request: PlacementRequest, nodes: Iterable<Candidate>): Candidate | null {
  let best: Candidate | null = null;
  for (const node of nodes) {
    if (firstRejection(request, node) !== null) continue;
    if (best === null || compare(request, node, best) < 0) best = node;
  }
  return best;
}
