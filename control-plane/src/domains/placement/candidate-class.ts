import type { Candidate, PlacementRequest } from './candidate.ts';
import { countOf } from './slot-mask.ts';

/** Equal for nodes that filters and scores cannot tell apart, but for when they come free and their id. */
export function classKey(node: Candidate): string {
  return [
    node.region,
    node.gpuModel,
    node.serves.join('+'),
    node.connected,
    node.draining,
    node.cordoned,
    node.layout.key,
    countOf(node.available),
    countOf(node.configured),
    countOf(node.healthy),
    countOf(node.available & node.configured),
    countOf(node.available & node.healthy),
    countOf(node.configured & node.healthy),
    node.room.key,
    node.leases.length,
    (node.promises ?? []).map(({ holder, from, until }) => `${holder} ${from} ${until}`).join(),
  ].join('|');
}

/** Nodes of one class, by when they come free, then by id. */
export class CandidateClass {
  readonly #members: Candidate[] = [];

  get size(): number {
    return this.#members.length;
  }

  get members(): readonly Candidate[] {
    return this.#members;
  }

  get first(): Candidate {
    return this.#members[0]!;
  }

  add(node: Candidate): void {
    this.#members.splice(this.#position(node.busyUntil, node.nodeId), 0, node);
  }

  remove(node: Candidate): void {
    this.#members.splice(this.#position(node.busyUntil, node.nodeId), 1);
  }

  /**
   * Within a class the scores prefer, of the nodes that are busy until the request's end or longer, the one free
   * soonest, and else the one busy longest.
   */
  bestFor(request: PlacementRequest): Candidate {
    const outlasting = this.#members[this.#position(request.endsAt, '')];
    if (outlasting) return outlasting;
    const longest = this.#members.at(-1)!.busyUntil;
    return this.#members[this.#position(longest, '')]!;
  }

  /** Where the first member stands that does not come before the given place in the order. */
  #position(busyUntil: number, nodeId: string): number {
    let [low, high] = [0, this.#members.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      const member = this.#members[middle]!;
      const before =
        member.busyUntil < busyUntil || (member.busyUntil === busyUntil && member.nodeId < nodeId);
      if (before) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
