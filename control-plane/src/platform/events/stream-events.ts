import { operatorPermissions } from '@gpuaas/contracts/events';
import type { operations } from '@gpuaas/contracts/generated/openapi.ts';
import { atPlatform, permissionsAt, scopeOf, type Caller } from '../auth/caller.ts';
import { inScope } from '../db/scope.ts';
import { OpenCounts, tooManyStreams } from '../http/open-counts.ts';
import { HIJACKED, type Handler } from '../http/operation.ts';
import type { Services } from '../services.ts';
import {
  formatCursor,
  isAfter,
  parseCursor,
  readEvents,
  type Cursor,
  type LoggedEvent,
} from './event-log.ts';
import type { RefreshBindings, RightsWatch } from '../auth/watch-rights.ts';
import { SharedRights } from '../auth/shared-rights.ts';
import { maySee } from './may-see.ts';
import { StreamOutput, type OutputBounds } from './stream-output.ts';
import type { EventTail } from './tail.ts';

const KEEPALIVE_MS = 15_000;
const REPLAY_PAGE = 500;

export interface StreamBounds extends OutputBounds {
  /** Events that wait for a replay or for the confirmation of rights. */
  maxWaiting: number;
  maxWaitingBytes: number;
}

const BOUNDS: StreamBounds = {
  drainMs: 30_000,
  maxBytes: 1024 * 1024,
  maxWaiting: 5_000,
  maxWaitingBytes: 4 * 1024 * 1024,
};

/**
 * `GET /api/v1/events/stream`: events that the caller may see, from `Last-Event-ID` on; closed when the
 * rights end.
 */
export function streamEvents(
  services: Services,
  tail: EventTail,
  refresh: RefreshBindings,
  bounds: StreamBounds = BOUNDS,
): Handler<operations['streamEvents'], Caller> {
  const counts = new OpenCounts();
  const sharedRights = new SharedRights({ db: services.db, log: services.log, refresh });
  return async ({ caller, request, reply, log }) => {
    const close = counts.open(caller.id, {
      perKey: services.policies.get('events.max_streams_per_caller'),
      inAll: services.policies.get('events.max_streams'),
    });
    if (!close) throw tooManyStreams('The limit of open event streams is reached. Close one and try again.');
    const { raw } = reply.hijack();
    raw.setHeaders(
      new Map([
        ['content-type', 'text/event-stream'],
        ['cache-control', 'no-store'],
        ['x-accel-buffering', 'no'],
        ['x-correlation-id', request.id],
      ]),
    );
    raw.writeHead(200);
    const output = new StreamOutput(raw, bounds);
    const rights = sharedRights.follow(caller, () => raw.end());
    const queue = new WaitingEvents(bounds);
    let busy = true;
    const sendWaiting = async (): Promise<void> => {
      busy = true;
      while (queue.size > 0) {
        const bindings = await rights.fresh();
        if (!bindings) return;
        for (const { event, text } of queue.take()) if (maySee(caller, bindings, event)) output.write(text);
      }
      busy = false;
    };
    const { from, unsubscribe } = tail.subscribe((event) => {
      if (output.ended || !maySee(caller, rights.last(), event)) return;
      // A client that was disconnected resumes from the last event it received.
      if (!queue.add(event)) return output.cut();
      if (!busy) void sendWaiting();
    });
    const lastSeen = parseCursor(String(request.headers['last-event-id'] ?? ''));
    // A position to resume from, also for a stream that breaks before its first event; never ahead of the
    // sent events.
    const mark = (cursor: Cursor) => output.write(`id: ${formatCursor(cursor)}\ndata:\n\n`);
    mark(lastSeen ?? from);
    const keepalive = setInterval(() => output.write(': keepalive\n\n'), KEEPALIVE_MS);
    raw.on('close', () => {
      unsubscribe();
      clearInterval(keepalive);
      rights.stop();
      close();
    });
    try {
      if (lastSeen) {
        await replay(services, caller, output, { after: lastSeen, until: from }, rights);
        mark(from);
      }
      await sendWaiting();
    } catch (error) {
      log.warn({ err: error }, 'event stream replay failed');
      output.cut();
    }
    return HIJACKED;
  };
}

interface WaitingEvent {
  event: LoggedEvent;
  text: string;
}

/** Buffered while the past is read, and while the rights are being confirmed. */
class WaitingEvents {
  readonly #bounds: StreamBounds;
  #events: WaitingEvent[] = [];
  #bytes = 0;

  constructor(bounds: StreamBounds) {
    this.#bounds = bounds;
  }

  get size(): number {
    return this.#events.length;
  }

  /** False if the buffer is full. */
  add(event: LoggedEvent): boolean {
    const text = textOf(event);
    this.#bytes += text.length;
    this.#events.push({ event, text });
    return this.size <= this.#bounds.maxWaiting && this.#bytes <= this.#bounds.maxWaitingBytes;
  }

  take(): WaitingEvent[] {
    const taken = this.#events;
    this.#events = [];
    this.#bytes = 0;
    return taken;
  }
}

function textOf({ cursor, envelope }: LoggedEvent): string {
  return `id: ${formatCursor(cursor)}\ndata: ${JSON.stringify(envelope)}\n\n`;
}

async function replay(
  { db }: Services,
  caller: Caller,
  output: StreamOutput,
  range: { after: Cursor; until: Cursor },
  rights: RightsWatch,
): Promise<void> {
  let cursor = range.after;
  const held = permissionsAt(caller.bindings, atPlatform);
  const scope = scopeOf(
    caller,
    operatorPermissions.find((permission) => held.has(permission)),
  );
  while (!output.ended) {
    const events = await inScope(db, scope, (tx) => readEvents(tx, cursor, REPLAY_PAGE));
    for (const event of events) {
      if (isAfter(event.cursor, range.until)) return;
      // Sends at the reader's pace, and checks current rights however slow that is.
      await output.drained();
      const current = await rights.fresh();
      if (!current) return;
      if (maySee(caller, current, event)) output.write(textOf(event));
      cursor = event.cursor;
    }
    if (events.length < REPLAY_PAGE) return;
  }
}
