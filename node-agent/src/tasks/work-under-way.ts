import type { SlotsInHand } from '../host/host.ts';

/** All work that there was at some moment since the watch began. */
export interface Watch {
  seen(): SlotsInHand[];
  end(): void;
}

/**
 * What tasks are changing on this host just now. Whoever looks at the host meanwhile sees things that are half made or
 * half gone, and must not take them for anything else.
 */
export class WorkUnderWay {
  readonly #now = new Set<SlotsInHand>();
  readonly #watches = new Set<Set<SlotsInHand>>();

  async during<T>(work: SlotsInHand, run: () => Promise<T>): Promise<T> {
    this.#now.add(work);
    for (const seen of this.#watches) seen.add(work);
    try {
      return await run();
    } finally {
      this.#now.delete(work);
    }
  }

  watch(): Watch {
    const seen = new Set(this.#now);
    this.#watches.add(seen);
    return { seen: () => [...seen], end: () => void this.#watches.delete(seen) };
  }
}
