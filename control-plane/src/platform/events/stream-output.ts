import type { ServerResponse } from 'node:http';

export interface OutputBounds {
  /** How long a reader may read nothing while data waits for it. */
  drainMs: number;
  /** Bytes that may wait in the connection of a slow reader. */
  maxBytes: number;
}

/** A streamed reply: a reader that stops reading is disconnected, and resumes when it connects again. */
export class StreamOutput {
  readonly #raw: ServerResponse;
  readonly #bounds: OutputBounds;
  #stalled: { timer: NodeJS.Timeout; over: Promise<void> } | null = null;

  constructor(raw: ServerResponse, bounds: OutputBounds) {
    this.#raw = raw;
    this.#bounds = bounds;
  }

  get ended(): boolean {
    return this.#raw.destroyed || this.#raw.writableEnded;
  }

  write(text: string): void {
    if (this.ended) return;
    if (this.#raw.writableLength > this.#bounds.maxBytes) this.cut();
    else if (!this.#raw.write(text)) this.#stalled ??= this.#waitForDrain();
  }

  /** Resolves when the reader has read everything written, or is gone. */
  async drained(): Promise<void> {
    await this.#stalled?.over;
  }

  cut(): void {
    this.#raw.destroy();
  }

  /** One pair of listeners while the reader is behind, however much is written meanwhile. */
  #waitForDrain(): { timer: NodeJS.Timeout; over: Promise<void> } {
    const { promise: over, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(() => this.cut(), this.#bounds.drainMs);
    const end = (): void => {
      clearTimeout(timer);
      this.#raw.off('drain', end).off('close', end);
      this.#stalled = null;
      resolve();
    };
    this.#raw.on('drain', end).on('close', end);
    return { timer, over };
  }
}
