import { once } from 'node:events';
import type { ServerResponse } from 'node:http';

const SLOW_READER_MS = 30_000;

/** Server-sent events to one client. */
export class EventStream {
  readonly #response: ServerResponse;
  readonly #gone = new AbortController();

  constructor(response: ServerResponse) {
    this.#response = response;
    response.on('close', () => this.#gone.abort());
    response.on('error', () => this.#gone.abort());
    response.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache',
      'x-accel-buffering': 'no',
    });
    response.flushHeaders();
  }

  /** Aborts when the client is gone. */
  get signal(): AbortSignal {
    return this.#gone.signal;
  }

  /** Resolves when the client has room for more. A client that reads nothing for 30 seconds is cut off. */
  async send(data: string): Promise<void> {
    if (this.signal.aborted || this.#response.write(`data: ${data}\n\n`)) return;
    const patience = AbortSignal.any([this.signal, AbortSignal.timeout(SLOW_READER_MS)]);
    await once(this.#response, 'drain', { signal: patience }).catch(() => this.#response.destroy());
  }

  end(): void {
    this.#response.end();
  }
}
