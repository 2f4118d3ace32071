import { Problem } from './problem.ts';

/** Number of open connections in this process, by key and in total. */
export class OpenCounts {
  readonly #byKey = new Map<string, number>();
  #all = 0;

  /** Counts one more until the returned function is called; null if `limits` are reached. */
  open(key: string, limits: { perKey: number; inAll?: number }): (() => void) | null {
    const own = this.#byKey.get(key) ?? 0;
    if (own >= limits.perKey || this.#all >= (limits.inAll ?? Infinity)) return null;
    this.#byKey.set(key, own + 1);
    this.#all += 1;
    let isOpen = true;
    return () => {
      if (!isOpen) return;
      isOpen = false;
      this.#all -= 1;
      const left = (this.#byKey.get(key) ?? 1) - 1;
      if (left === 0) this.#byKey.delete(key);
      else this.#byKey.set(key, left);
    };
  }
}

export function tooManyStreams(detail: string): Problem {
  return new Problem('too_many_streams', detail, { retryAfterSeconds: 5 });
}
