import type { Candidate, PlacementRequest } from './candidate.ts';
import { countSlots } from './slot-mask.ts';

/** Equal for nodes that filters and scores treat alike, except for their end times and ids. */
export function classKey(node: Candidate): string {
  return [
    node.region,
    node.gpuModel,
    node.serves.join('+'),
    node.connected,
    node.draining,
    node.cordoned,
    node.layout.key,
    countSlots(node.available),
    countSlots(node.configured),
    countSlots(node.healthy),
    countSlots(node.available & node.configured),
    countSlots(node.available & node.healthy),
    countSlots(node.configured & node.healthy),
    node.room.key,
    node.leases.length,
    (node.promises ?? []).map(({ holder, from, until }) => `${holder} ${from} ${until}`).join(),
  ].join('|');
}

/** Nodes of one class, by end time, then by id. */
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

  /** Index of the first member that does not sort before the given values. */
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
