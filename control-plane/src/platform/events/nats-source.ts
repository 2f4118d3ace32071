import { AckPolicy, DeliverPolicy, jetstream, type Consumer as PullConsumer } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Db } from '../db/database.ts';
import { isAfter, readEvents, type Cursor, type LoggedEvent } from './event-log.ts';
import type { EventSource } from './log-follower.ts';
import { ensureStream, readMessage, STREAM, streamHead, type StreamedEvent } from './nats-stream.ts';

const POLL_MS = 1000;
const IDLE_POLLS = 5;
const INACTIVE_NANOS = 60_000_000_000;

/**
 * NATS transports, Postgres stores. Cursors are those of the log and are stored with the consumer, so order
 * and position survive a restart and an emptied or restored NATS server. Each message names the event before
 * it; if that is not the last one read, the missing part comes from the log.
 */
export class NatsSource implements EventSource {
  readonly #db: Db;
  readonly #reader: PullConsumer;
  /** Reads the log from the cursor on, then the stream. */
  #catchingUp = true;
  #idlePolls = 0;

  private constructor(db: Db, reader: PullConsumer) {
    this.#db = db;
    this.#reader = reader;
  }

  static async open(db: Db, connection: NatsConnection): Promise<NatsSource> {
    const manager = await ensureStream(connection);
    const { sequence } = await streamHead(manager);
    const { name } = await manager.consumers.add(STREAM, {
      ack_policy: AckPolicy.None,
      deliver_policy: DeliverPolicy.StartSequence,
      opt_start_seq: sequence + 1,
      inactive_threshold: INACTIVE_NANOS,
    });
    return new NatsSource(db, await jetstream(connection).consumers.get(STREAM, name));
  }

  async next(cursor: Cursor, limit: number, signal: AbortSignal): Promise<LoggedEvent[]> {
    if (this.#catchingUp) {
      const events = await readEvents(this.#db, cursor, limit);
      if (events.length > 0) return events;
      this.#catchingUp = false;
    }
    const events: LoggedEvent[] = [];
    let last = cursor;
    for (const { event, previous } of await this.#fetch(limit, signal)) {
      if (!isAfter(event.cursor, last)) continue;
      if (isAfter(previous, last)) {
        this.#catchingUp = true;
        break;
      }
      events.push(event);
      last = event.cursor;
    }
    return events;
  }

  async close(): Promise<void> {
    await this.#reader.delete();
  }

  async #fetch(limit: number, signal: AbortSignal): Promise<StreamedEvent[]> {
    if (signal.aborted) return [];
    const first = await this.#reader.next({ expires: POLL_MS });
    if (!first) {
      await this.#checkSilence();
      return [];
    }
    this.#idlePolls = 0;
    const messages = [first];
    const more = Math.min(first.info.pending, limit - 1);
    if (more > 0) {
      for await (const message of await this.#reader.fetch({ max_messages: more, expires: POLL_MS })) {
        messages.push(message);
      }
    }
    return messages.map(readMessage);
  }

  /** Silence may mean that a message was lost with a connection, or that a restarted server lost this reader. */
  async #checkSilence(): Promise<void> {
    this.#idlePolls += 1;
    if (this.#idlePolls % IDLE_POLLS !== 0) return;
    this.#catchingUp = true;
    await this.#reader.info();
  }
}
