import { setTimeout as sleep } from 'node:timers/promises';
import type { Db } from '../db/database.ts';
import type { Listener } from '../db/listener.ts';
import type { Logger } from '../telemetry/logger.ts';
import { headCursor, LOG_START, type Cursor, type LoggedEvent } from './event-log.ts';
import { LogFollower } from './log-follower.ts';

type Subscriber = (event: LoggedEvent) => void;

/** Reads new events once per process and passes each to every live subscriber. */
export class EventTail {
  readonly #db: Db;
  readonly #follower: LogFollower;
  readonly #log: Logger;
  readonly #subscribers = new Set<Subscriber>();
  readonly #stop = new AbortController();
  #done: Promise<void> = Promise.resolve();
  #cursor: Cursor = LOG_START;

  constructor(db: Db, listener: Listener, log: Logger) {
    this.#db = db;
    this.#follower = new LogFollower(db, listener);
    this.#log = log;
  }

  async start(): Promise<void> {
    this.#cursor = await headCursor(this.#db);
    this.#done = this.#run();
  }

  /** Every event after the returned cursor reaches `subscriber`. */
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
      try {
        for (const event of await this.#follower.next(this.#cursor, 500, signal)) this.#deliver(event);
      } catch (error) {
        if (signal.aborted) return;
        this.#log.warn({ err: error }, 'reading events failed; trying again');
        await sleep(500, undefined, { signal }).catch(() => undefined);
      }
    }
  }

  #deliver(event: LoggedEvent): void {
    this.#cursor = event.cursor;
    for (const subscriber of this.#subscribers) subscriber(event);
  }
}
