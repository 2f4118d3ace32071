import { AppRefusal } from '../web/app-refusal.ts';

/** Bounds how many requests are served together, and how many wait. */
export class Turns {
  readonly #atOnce: number;
  readonly #mayWait: number;
  readonly #waiting: (() => void)[] = [];
  #busy = 0;

  constructor(options: { atOnce: number; mayWait: number }) {
    this.#atOnce = options.atOnce;
    this.#mayWait = options.mayWait;
  }

  async run<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    if (this.#busy < this.#atOnce) this.#busy += 1;
    else await this.#wait(signal);
    try {
      signal.throwIfAborted();
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#busy -= 1;
    }
  }

  async #wait(signal: AbortSignal): Promise<void> {
    if (this.#waiting.length >= this.#mayWait)
      throw new AppRefusal(429, 'rate_limit_exceeded', 'The model is busy. Try again in a second.');
    await new Promise<void>((resolve, reject) => {
      this.#waiting.push(resolve);
      signal.addEventListener('abort', () => {
        const index = this.#waiting.indexOf(resolve);
        if (index === -1) return;
        this.#waiting.splice(index, 1);
        reject(signal.reason);
      });
    });
  }
}
