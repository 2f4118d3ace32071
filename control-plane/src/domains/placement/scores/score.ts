import type { Candidate, PlacementRequest } from '../candidate.ts';

/** Ranks nodes that can serve the request: the lower the better. */
export interface Score {
  name: string;
  /** What it prefers and what that is good for. */
  reason: string;
  of(request: PlacementRequest, node: Candidate): number;
}
