import { EventEmitter } from 'node:events';
import pg from 'pg';

const CONNECT_TIMEOUT_MS = 10_000;

/**
 * One LISTEN connection per process. Notifications only wake readers; they carry no truth, so a lost
 * connection costs latency, never data.
 */
export class Listener {
  readonly #url: string;
  readonly #channels: readonly string[];
  readonly #emitter = new EventEmitter();
  #client: pg.Client | undefined;
  #connected = false;
  #closed = false;
  #retry: NodeJS.Timeout | undefined;

  constructor(url: string, channels: readonly string[]) {
    this.#url = url;
    this.#channels = channels;
    this.#emitter.setMaxListeners(0);
  }

  /** Whether notifications reach this process now. */
  get connected(): boolean {
    return this.#connected;
  }

  async start(): Promise<void> {
    if (this.#closed) return;
    const client = new pg.Client({
      connectionString: this.#url,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      keepAlive: true,
    });
    client.on('error', () => this.#reconnect(client));
    client.on('end', () => this.#reconnect(client));
    client.on('notification', (message) => this.#emitter.emit(message.channel, message.payload ?? ''));
    this.#client = client;
    try {
      await client.connect();
      for (const channel of this.#channels) await client.query(`listen ${channel}`);
    } catch {
      this.#reconnect(client);
      return;
    }
    this.#connected = client === this.#client;
    // Notifications during the outage were lost, so notify every channel.
    for (const channel of this.#channels) this.#emitter.emit(channel, '');
  }

  on(channel: string, wake: (payload: string) => void): () => void {
    this.#emitter.on(channel, wake);
    return () => this.#emitter.off(channel, wake);
  }

  /** Resolves at the next wake-up, after `ms`, or when `signal` aborts. */
  wait(channel: string, ms: number, options: { payload?: string; signal?: AbortSignal } = {}): Promise<void> {
    return new Promise((resolve) => {
      const finish = (): void => {
        clearTimeout(timer);
        off();
        options.signal?.removeEventListener('abort', finish);
        resolve();
      };
      const timer = setTimeout(finish, ms);
      const off = this.on(channel, (payload) => {
        if (options.payload === undefined || payload === '' || payload === options.payload) finish();
      });
      options.signal?.addEventListener('abort', finish, { once: true });
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#connected = false;
    clearTimeout(this.#retry);
    for (const channel of this.#channels) this.#emitter.emit(channel, '');
    await this.#client?.end().catch(() => undefined);
  }

  #reconnect(client: pg.Client): void {
    if (this.#closed || client !== this.#client) return;
    this.#client = undefined;
    this.#connected = false;
    client.end().catch(() => undefined);
    this.#retry = setTimeout(() => void this.start(), 500);
  }
}
