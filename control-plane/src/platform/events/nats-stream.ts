import { eventTypes } from '@gpuaas/contracts/generated/events.ts';
import {
  jetstreamManager,
  RetentionPolicy,
  StorageType,
  type JetStreamManager,
  type JsMsg,
} from '@nats-io/jetstream';
import { connect, headers, type MsgHdrs, type NatsConnection } from '@nats-io/transport-node';
import { formatCursor, parseCursor, type Cursor, type Envelope, type LoggedEvent } from './event-log.ts';

export const STREAM = 'GPUAAS_EVENTS';

const CURSOR_HEADER = 'Gpuaas-Cursor';
const PREVIOUS_HEADER = 'Gpuaas-Previous';
const ORGANIZATION_HEADER = 'Gpuaas-Organization';
const SUBJECT_HEADER = 'Gpuaas-Subject';
const NANOS = 1_000_000_000;
/** Older events are still in Postgres, where late consumers read them. */
const KEPT_SECONDS = 7 * 24 * 3600;
const DUPLICATE_SECONDS = 120;

/** One connection, opened at the first use and again after it was closed for good. */
export class NatsLink {
  readonly #url: string;
  readonly #name: string;
  #connection: Promise<NatsConnection> | undefined;

  constructor(url: string, name: string) {
    this.#url = url;
    this.#name = name;
  }

  async connection(): Promise<NatsConnection> {
    this.#connection ??= connect({
      servers: this.#url,
      name: this.#name,
      maxReconnectAttempts: -1,
      reconnectTimeWait: 500,
    });
    try {
      const connection = await this.#connection;
      if (!connection.isClosed()) return connection;
    } catch (error) {
      this.#connection = undefined;
      throw error;
    }
    this.#connection = undefined;
    return await this.connection();
  }

  /** Pings the server; the error gives the reason without the address, which may hold a password. */
  async check(): Promise<string> {
    // A process that waits for its turn has not needed the connection yet.
    const connection = await this.connection().catch((error: unknown) => {
      throw new Error(`NATS cannot be reached: ${error instanceof Error ? error.message : 'unknown'}`);
    });
    try {
      return `answers in ${await connection.rtt()} ms`;
    } catch (error) {
      throw new Error('NATS: the connection is lost; it is being made again', { cause: error });
    }
  }

  async close(): Promise<void> {
    const connection = await this.#connection?.catch(() => undefined);
    await connection?.close();
  }
}

/** The stream that only our relay writes. */
export async function ensureStream(connection: NatsConnection): Promise<JetStreamManager> {
  const manager = await jetstreamManager(connection);
  const families = new Set(Object.keys(eventTypes).map((type) => `${type.split('.')[0]}.>`));
  const settings = {
    subjects: [...families],
    retention: RetentionPolicy.Limits,
    storage: StorageType.File,
    max_age: KEPT_SECONDS * NANOS,
    duplicate_window: DUPLICATE_SECONDS * NANOS,
  };
  const names = await manager.streams.names().next();
  if (names.includes(STREAM)) await manager.streams.update(STREAM, settings);
  else await manager.streams.add({ name: STREAM, ...settings });
  return manager;
}

/** Progress of the stream: its last sequence, and the log cursor of that message. */
export async function streamHead(
  manager: JetStreamManager,
): Promise<{ sequence: number; cursor: Cursor | null }> {
  const { state } = await manager.streams.info(STREAM);
  const message =
    state.messages > 0 ? await manager.streams.getMessage(STREAM, { seq: state.last_seq }) : null;
  return { sequence: state.last_seq, cursor: message ? readCursor(message.header, CURSOR_HEADER) : null };
}

/** An event in the stream, with the cursor of the event before it in the log. */
export interface StreamedEvent {
  event: LoggedEvent;
  previous: Cursor;
}

export function messageHeaders({ event, previous }: StreamedEvent): MsgHdrs {
  const made = headers();
  made.set(CURSOR_HEADER, formatCursor(event.cursor));
  made.set(PREVIOUS_HEADER, formatCursor(previous));
  made.set(SUBJECT_HEADER, event.subjectId);
  if (event.organizationId) made.set(ORGANIZATION_HEADER, event.organizationId);
  return made;
}

export function readMessage(message: JsMsg): StreamedEvent {
  const event = {
    cursor: readCursor(message.headers, CURSOR_HEADER),
    organizationId: message.headers?.get(ORGANIZATION_HEADER) || null,
    subjectId: message.headers?.get(SUBJECT_HEADER) ?? '',
    envelope: message.json<Envelope>(),
  };
  return { event, previous: readCursor(message.headers, PREVIOUS_HEADER) };
}

function readCursor(header: MsgHdrs | undefined, name: string): Cursor {
  const cursor = parseCursor(header?.get(name) ?? '');
  if (!cursor) throw new Error(`stream ${STREAM} holds a message that the relay did not write`);
  return cursor;
}
