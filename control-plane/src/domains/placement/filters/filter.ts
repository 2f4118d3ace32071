import type { Candidate, PlacementRequest } from '../candidate.ts';

/** Says which nodes cannot serve a request. It looks at one thing only, so that its reason is the whole reason. */
export interface Filter {
  name: string;
  /** Why a node that fails it cannot serve, in words a tenant may read after "nodes". */
  reason: string;
  keeps(request: PlacementRequest, node: Candidate): boolean;
}
