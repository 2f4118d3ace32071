export interface CacheRules {
  /** The value is fetched again after this. */
  maxAgeMs: number;
  /** While it cannot be fetched, the last value serves this long. */
  staleMs: number;
  /** Shortest time between fetches, after a success and after a failure. */
  pauseMs: number;
  retryMs: number;
}

/** There is no value, and it cannot be fetched now. */
export class ValueUnavailableError extends Error {
  readonly retryAfterSeconds: number;

  constructor(retryAfterMs: number, cause: unknown) {
    super('the value cannot be fetched', { cause });
    this.retryAfterSeconds = Math.max(1, Math.ceil(retryAfterMs / 1000));
  }
}

type Attempt = { at: number; error: unknown; failed: boolean };

/** A value that another party publishes: fetched when needed, one fetch at a time, at a limited rate. */
export class CachedValue<T> {
  readonly #load: () => Promise<T>;
  readonly #rules: CacheRules;
  readonly #now: () => number;
  #kept: { value: T; at: number } | undefined;
  #last: Attempt | undefined;
  #running: Promise<void> | undefined;

  constructor(load: () => Promise<T>, rules: CacheRules, now: () => number = () => performance.now()) {
    this.#load = load;
    this.#rules = rules;
    this.#now = now;
  }

  /** The value, fetched if it is too old; the last known one while that fails, as long as the rules allow. */
  async get(): Promise<T> {
    if (!this.#isYoungerThan(this.#rules.maxAgeMs)) await this.#fetch();
    if (this.#kept && this.#isYoungerThan(this.#rules.staleMs)) return this.#kept.value;
    throw this.#unavailable();
  }

  /** Fetches ahead of time, unless that was just done; returns whether the value may be new. */
  async refresh(): Promise<boolean> {
    const before = this.#kept;
    await this.#fetch();
    if (this.#last?.failed) throw this.#unavailable();
    return this.#kept !== before;
  }

  async #fetch(): Promise<void> {
    if (!this.#running && this.#waitMs() > 0) return;
    this.#running ??= this.#attempt().finally(() => {
      this.#running = undefined;
    });
    await this.#running;
  }

  async #attempt(): Promise<void> {
    try {
      const value = await this.#load();
      this.#kept = { value, at: this.#now() };
      this.#last = { at: this.#now(), error: undefined, failed: false };
    } catch (error) {
      this.#last = { at: this.#now(), error, failed: true };
    }
  }

  #isYoungerThan(ms: number): boolean {
    return this.#kept !== undefined && this.#now() - this.#kept.at < ms;
  }

  #waitMs(): number {
    if (!this.#last) return 0;
    const pause = this.#last.failed ? this.#rules.retryMs : this.#rules.pauseMs;
    return Math.max(0, this.#last.at + pause - this.#now());
  }

  #unavailable(): ValueUnavailableError {
    return new ValueUnavailableError(this.#waitMs(), this.#last?.error);
  }
}
