import { setTimeout as sleep } from 'node:timers/promises';
import type { Db } from '../db/database.ts';
import type { Listener } from '../db/listener.ts';
import { EVENTS_CHANNEL } from './emit.ts';
import { readLog, type Cursor, type LoggedEvent } from './event-log.ts';

const IDLE_MS = 1000;
const HELD_MS = 5;
const MAX_HELD_MS = 50;
const ENDED = 'the wait has ended';

/** A source that consumers can read in the order of the log. */
export interface EventSource {
  /** The next events after `cursor`; waits for some, and returns none from time to time or when aborted. */
  next(cursor: Cursor, limit: number, signal: AbortSignal): Promise<LoggedEvent[]>;
  close(): Promise<void>;
}

/** The log itself, woken by NOTIFY. A notification has no content; a lost one costs a second. */
export class LogFollower implements EventSource {
  readonly #db: Db;
  readonly #listener: Listener;
  #heldMs = HELD_MS;

  constructor(db: Db, listener: Listener) {
    this.#db = db;
    this.#listener = listener;
  }

  async next(cursor: Cursor, limit: number, signal: AbortSignal): Promise<LoggedEvent[]> {
    const stopWaiting = new AbortController();
    // Listen before the read, so that no event is missed between the two.
    const woken = this.#listener.wait(EVENTS_CHANNEL, IDLE_MS, {
      signal: AbortSignal.any([signal, stopWaiting.signal]),
    });
    try {
      const { events, held } = await readLog(this.#db, cursor, limit);
      if (events.length > 0) {
        this.#heldMs = HELD_MS;
        return events;
      }
      if (held) {
        // The transaction that holds them back may send no notification when it ends.
        await sleep(this.#heldMs, undefined, { signal }).catch(() => undefined);
        this.#heldMs = Math.min(this.#heldMs * 2, MAX_HELD_MS);
      } else await woken;
      return [];
    } finally {
      // A prepared reason avoids creating an error that nothing reads.
      stopWaiting.abort(ENDED);
    }
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}
