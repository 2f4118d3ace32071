import { jetstream, type JetStreamClient } from '@nats-io/jetstream';
import type { Db } from '../db/database.ts';
import type { Listener } from '../db/listener.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Consumption } from './consumer.ts';
import { LOG_START, type Cursor } from './event-log.ts';
import { LogFollower, type EventSource } from './log-follower.ts';
import { ensureStream, messageHeaders, NatsLink, streamHead, type StreamedEvent } from './nats-stream.ts';
import { runConsumer } from './run-consumer.ts';
import { present } from '../present.ts';

export const RELAY = 'nats-relay';

export interface Relay extends Consumption {
  /** Whether NATS answers; throws the reason if not. */
  check(): Promise<string>;
}

/**
 * Publishes the log to JetStream in its order; one process at a time. The stream itself holds the progress:
 * each message expects to follow the one before it, so neither a lost publish nor a second relay can cause a
 * gap or a wrong order, and a crash between publishing and moving the cursor repeats nothing.
 */
export async function startRelay(options: {
  db: Db;
  listener: Listener;
  log: Logger;
  natsUrl: string;
}): Promise<Relay> {
  const link = new NatsLink(options.natsUrl, 'gpuaas relay');
  let client: JetStreamClient;
  let head = { sequence: 0, cursor: LOG_START };
  const relay = await runConsumer(options.db, options.log, {
    name: RELAY,
    // Consumers read events from before the stream in Postgres.
    startFrom: 'now',
    async openSource(state) {
      const connection = await link.connection();
      const manager = await ensureStream(connection);
      client = jetstream(connection);
      const { sequence, cursor } = await streamHead(manager);
      head = { sequence, cursor: cursor ?? state.cursor };
      return resumeAt(head.cursor, new LogFollower(options.db, options.listener));
    },
    async handleBatch(events, done) {
      const acks = events.map((event) => {
        const ack = publish(client, { event, previous: head.cursor }, head.sequence);
        head = { sequence: head.sequence + 1, cursor: event.cursor };
        return ack;
      });
      for (const [index, result] of (await Promise.allSettled(acks)).entries()) {
        if (result.status === 'rejected') throw result.reason;
        done(present(events[index], 'event'));
      }
    },
  });
  return {
    check: () => link.check(),
    async stop() {
      await relay.stop();
      await link.close();
    },
  };
}

async function publish(
  client: JetStreamClient,
  streamed: StreamedEvent,
  lastSequence: number,
): Promise<void> {
  const { envelope } = streamed.event;
  await client.publish(envelope.event_type, JSON.stringify(envelope), {
    msgID: envelope.event_id,
    headers: messageHeaders(streamed),
    expect: { lastSequence },
  });
}

/** Reads from `start`, whatever the consumer's row says. */
function resumeAt(start: Cursor, follower: LogFollower): EventSource {
  let cursor = start;
  return {
    async next(_cursor, limit, signal) {
      const events = await follower.next(cursor, limit, signal);
      cursor = events.at(-1)?.cursor ?? cursor;
      return events;
    },
    close: () => follower.close(),
  };
}
