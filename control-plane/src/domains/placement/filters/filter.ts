import type { Candidate, PlacementRequest } from '../candidate.ts';

/** Rejects nodes that cannot serve a request. It checks one property only, so that its reason is complete. */
export interface Filter {
  name: string;
  /** Reason of a rejection, as a predicate that a tenant may read after "nodes". */
  reason: string;
  keeps(request: PlacementRequest, node: Candidate): boolean;
}
