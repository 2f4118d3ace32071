import type { Candidate, PlacementRequest } from './candidate.ts';
import { CandidateClass, classKey } from './candidate-class.ts';
import type { CandidateGroup } from './explain-refusal.ts';
import { compare, firstRejection } from './best-node.ts';

/**
 * Finds the best node without scanning all: nodes that filters and scores treat alike, except for end times,
 * form a class, and only the best of each class is ranked. A test compares it with the ranking of all nodes.
 */
export class PlacementIndex {
  readonly #nodes = new Map<string, { node: Candidate; home: CandidateClass }>();
  readonly #classes = new Map<string, CandidateClass>();

  get size(): number {
    return this.#nodes.size;
  }

  get(nodeId: string): Candidate | undefined {
    return this.#nodes.get(nodeId)?.node;
  }

  /** Adds the node, or replaces it. */
  set(node: Candidate): void {
    this.remove(node.nodeId);
    const key = classKey(node);
    const home = this.#classes.get(key) ?? new CandidateClass();
    this.#classes.set(key, home);
    home.add(node);
    this.#nodes.set(node.nodeId, { node, home });
  }

  remove(nodeId: string): void {
    const known = this.#nodes.get(nodeId);
    if (!known) return;
    known.home.remove(known.node);
    if (known.home.size === 0) this.#classes.delete(classKey(known.node));
    this.#nodes.delete(nodeId);
  }

  /** The node that serves the request best, or null if none can. */
  best(request: PlacementRequest): Candidate | null {
    let best: Candidate | null = null;
    for (const home of this.#classes.values()) {
      if (firstRejection(request, home.first) !== null) continue;
      const champion = home.bestFor(request);
      if (best === null || compare(request, champion, best) < 0) best = champion;
    }
    return best;
  }

  /** The nodes by class: no filter distinguishes nodes of one class. */
  groups(): CandidateGroup[] {
    return Array.from(this.#classes.values(), (home) => home.members);
  }
}
