/** Work of one key runs in the order it came; different keys do not wait for each other. */
export class SerialQueue {
  readonly #tails = new Map<string, Promise<void>>();

  isBusy(key: string): boolean {
    return this.#tails.has(key);
  }

  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#tails.get(key) ?? Promise.resolve();
    const mine = before.then(work);
    const tail = mine.then(
      () => undefined,
      () => undefined,
    );
    this.#tails.set(key, tail);
    try {
      return await mine;
    } finally {
      if (this.#tails.get(key) === tail) this.#tails.delete(key);
    }
  }
}
