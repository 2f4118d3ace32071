import type { Candidate, PlacementRequest } from '../candidate.ts';

/** Ranks nodes that can serve the request: the lower the better. */
export interface Score {
  name: string;
  /** What the score prefers, and why. */
  reason: string;
  of(request: PlacementRequest, node: Candidate): number;
}
