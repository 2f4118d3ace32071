import { watchRights, type Holder, type RightsWatch, type RightsWatchOptions } from './watch-rights.ts';
import { serializeCredential } from './serialize-credential.ts';

type SharedOptions = Pick<RightsWatchOptions, 'db' | 'log' | 'refresh'>;

interface Shared {
  watch: RightsWatch;
  ends: Set<() => void>;
}

/** One check of rights for all streams of a credential, however many are open. */
export class SharedRights {
  readonly #watches = new Map<string, Shared>();
  readonly #options: SharedOptions;

  constructor(options: SharedOptions) {
    this.#options = options;
  }

  follow(holder: Holder, onEnd: () => void): RightsWatch {
    const key = serializeCredential(holder.credential);
    const shared = this.#watches.get(key) ?? this.#open(key, holder);
    shared.ends.add(onEnd);
    return {
      ...shared.watch,
      stop: () => {
        shared.ends.delete(onEnd);
        if (shared.ends.size > 0) return;
        shared.watch.stop();
        if (this.#watches.get(key) === shared) this.#watches.delete(key);
      },
    };
  }

  #open(key: string, holder: Holder): Shared {
    const ends = new Set<() => void>();
    const onEnd = (): void => {
      this.#watches.delete(key);
      for (const end of [...ends]) end();
    };
    const shared = { ends, watch: watchRights({ ...this.#options, onEnd }, holder) };
    this.#watches.set(key, shared);
    return shared;
  }
}
