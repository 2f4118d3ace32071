import type { SlotsBeingChanged } from '../host/host.ts';

/** All work that was running at some moment since the watch started. */
export interface WorkWatch {
  seen(): SlotsBeingChanged[];
  end(): void;
}

/**
 * Work that tasks are doing on this host now. Observers see resources half created or half removed meanwhile,
 * and must not treat them as orphans.
 */
export class ActiveWork {
  readonly #now = new Set<SlotsBeingChanged>();
  readonly #watches = new Set<Set<SlotsBeingChanged>>();

  async during<T>(work: SlotsBeingChanged, run: () => Promise<T>): Promise<T> {
    this.#now.add(work);
    for (const seen of this.#watches) seen.add(work);
    try {
      return await run();
    } finally {
      this.#now.delete(work);
    }
  }

  watch(): WorkWatch {
    const seen = new Set(this.#now);
    this.#watches.add(seen);
    return { seen: () => [...seen], end: () => void this.#watches.delete(seen) };
  }
}
