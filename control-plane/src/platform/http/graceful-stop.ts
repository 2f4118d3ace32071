import type { ServerResponse } from 'node:http';
import type { FastifyInstance } from 'fastify';

const DRAIN_MS = 10_000;

/** Stops a server without breaking off responses. */
export class GracefulStop {
  readonly #server: FastifyInstance;
  readonly #streams = new Set<ServerResponse>();
  readonly #stopping = new AbortController();
  readonly #drainMs: number;

  constructor(server: FastifyInstance, drainMs = DRAIN_MS) {
    this.#server = server;
    this.#drainMs = drainMs;
  }

  /** Aborts when the server stops; long polls then answer instead of waiting. */
  get stopping(): AbortSignal {
    return this.#stopping.signal;
  }

  /** A stream that is ended, not cut, at the stop; its client connects again elsewhere. */
  track(response: ServerResponse): void {
    this.#streams.add(response);
    response.once('close', () => this.#streams.delete(response));
    if (this.stopping.aborted) response.end();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    for (const response of this.#streams) response.end();
    const overdue = setTimeout(() => this.#server.server.closeAllConnections(), this.#drainMs);
    try {
      await this.#server.close();
    } finally {
      clearTimeout(overdue);
    }
  }
}
