import type { Candidate, PlacementRequest } from './candidate.ts';
import { CandidateClass, classKey } from './candidate-class.ts';
import type { CandidateGroup } from './explain-refusal.ts';
import { bestOf } from './rank.ts';

/**
 * Nodes kept so that the best one is found without looking at each: those that filters and scores cannot tell apart,
 * but for when they come free, form a class, and only the best of each class is ranked. A test holds it to the
 * ranking of all nodes.
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

  nodes(): Candidate[] {
    return Array.from(this.#nodes.values(), ({ node }) => node);
  }

  /** Adds the node, or replaces what was known of it. */
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
    return bestOf(request, this.#champions(request));
  }

  /** One node of each class and how many it stands for, for questions that do not hang on when they come free. */
  *groups(): Iterable<CandidateGroup> {
    for (const home of this.#classes.values()) yield { node: home.first, nodes: home.size };
  }

  *#champions(request: PlacementRequest): Iterable<Candidate> {
    for (const home of this.#classes.values()) yield home.bestFor(request);
  }
}
