/** Waits, or returns immediately when the signal fires; the caller checks the signal. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal?.addEventListener('abort', done, { once: true });
  });
}

/** Exponential delays, half of them random, so that a fleet does not reconnect in step. */
export class Backoff {
  readonly #base: number;
  readonly #cap: number;
  #attempt = 0;

  constructor(baseMs: number, capMs: number) {
    this.#base = baseMs;
    this.#cap = capMs;
  }

  reset(): void {
    this.#attempt = 0;
  }

  nextMs(): number {
    const ceiling = Math.min(this.#cap, this.#base * 2 ** this.#attempt);
    this.#attempt = Math.min(this.#attempt + 1, 30);
    return ceiling / 2 + (Math.random() * ceiling) / 2;
  }

  async wait(signal?: AbortSignal): Promise<void> {
    await sleep(this.nextMs(), signal);
  }
}
