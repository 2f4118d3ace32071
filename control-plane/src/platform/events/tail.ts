import type { Db } from '../db/database.ts';
import type { Listener } from '../db/listener.ts';
import type { Logger } from '../telemetry/logger.ts';
import { EVENTS_CHANNEL } from './emit.ts';
import { headCursor, readEvents, type Cursor, type LoggedEvent } from './event-log.ts';

type Subscriber = (event: LoggedEvent) => void;

/** Reads new events once per process and hands each to every live subscriber. */
export class EventTail {
  readonly #db: Db;
  readonly #listener: Listener;
  readonly #log: Logger;
  readonly #subscribers = new Set<Subscriber>();
  readonly #stop = new AbortController();
  #done: Promise<void> = Promise.resolve();
  #cursor: Cursor = { xid: '0', position: '0' };

  constructor(db: Db, listener: Listener, log: Logger) {
    this.#db = db;
    this.#listener = listener;
    this.#log = log;
  }

  async start(): Promise<void> {
    this.#cursor = await headCursor(this.#db);
    this.#done = this.#run();
  }

  /** Everything after the returned cursor reaches `subscriber`. */
  subscribe(subscriber: Subscriber): { from: Cursor; unsubscribe: () => void } {
    this.#subscribers.add(subscriber);
    return { from: this.#cursor, unsubscribe: () => void this.#subscribers.delete(subscriber) };
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#done;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      const woken = this.#listener.wait(EVENTS_CHANNEL, 1000, { signal });
      try {
        let events = await readEvents(this.#db, this.#cursor, 500);
        while (events.length > 0) {
          for (const event of events) this.#deliver(event);
          events = events.length < 500 ? [] : await readEvents(this.#db, this.#cursor, 500);
        }
      } catch (error) {
        if (!signal.aborted) this.#log.warn({ err: error }, 'reading events failed; trying again');
      }
      await woken;
      // A transaction that notified may still be below another running one; do not spin on it.
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  #deliver(event: LoggedEvent): void {
    this.#cursor = event.cursor;
    for (const subscriber of this.#subscribers) subscriber(event);
  }
}
