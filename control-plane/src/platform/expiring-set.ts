import { deadlineAfter, type Deadline } from './clock.ts';

const MAX_KNOWN = 10_000;

/** Remembers values for a while. When there are too many all are dropped: its answer is a hint. */
export class ExpiringSet {
  readonly #ms: number;
  readonly #until = new Map<string, Deadline>();

  constructor(ms: number) {
    this.#ms = ms;
  }

  add(thing: string): void {
    if (this.#until.size >= MAX_KNOWN) this.#until.clear();
    this.#until.set(thing, deadlineAfter(this.#ms));
  }

  has(thing: string): boolean {
    const until = this.#until.get(thing);
    if (!until?.passed()) return until !== undefined;
    this.#until.delete(thing);
    return false;
  }
}
