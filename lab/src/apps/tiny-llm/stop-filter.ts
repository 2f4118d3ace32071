/** Holds back text that may be the beginning of a stop sequence. */
export class StopFilter {
  readonly #stops: readonly string[];
  #held = '';
  #stopped = false;

  constructor(stops: readonly string[]) {
    this.#stops = stops;
  }

  /** True when a stop sequence has come; nothing of it, and nothing after it, is let through. */
  get stopped(): boolean {
    return this.#stopped;
  }

  /** Returns the text that can be sent. */
  push(text: string): string {
    if (this.#stopped) return '';
    const all = this.#held + text;
    const found = this.#stops.map((stop) => all.indexOf(stop)).filter((index) => index !== -1);
    if (found.length > 0) {
      this.#stopped = true;
      this.#held = '';
      return all.slice(0, Math.min(...found));
    }
    const kept = Math.max(0, ...this.#stops.map((stop) => overlap(all, stop)));
    this.#held = all.slice(all.length - kept);
    return all.slice(0, all.length - kept);
  }

  /** At the end no stop sequence can be completed. */
  flush(): string {
    const held = this.#held;
    this.#held = '';
    return held;
  }
}

/** The longest end of `text` that `stop` begins with. */
function overlap(text: string, stop: string): number {
  for (let length = Math.min(stop.length - 1, text.length); length > 0; length -= 1)
    if (stop.startsWith(text.slice(text.length - length))) return length;
  return 0;
}
