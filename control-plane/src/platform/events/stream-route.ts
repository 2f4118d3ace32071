import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { operations } from '@gpuaas/contracts/generated/openapi.ts';
import { stillAuthenticated } from '../auth/authenticate.ts';
import { loadBindings, permissionsAt, scopeOf, type Binding, type Caller } from '../auth/caller.ts';
import { inScope } from '../db/scope.ts';
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
import type { EventTail } from './tail.ts';

const RECHECK_MS = 3000;
const KEEPALIVE_MS = 15_000;
const REPLAY_PAGE = 500;
const MAX_BUFFERED_BYTES = 1024 * 1024;

/** `GET /api/v1/events/stream`: what the caller may see, from `Last-Event-ID` on, cut when the rights end. */
export function streamEvents(
  services: Services,
  tail: EventTail,
): Handler<operations['streamEvents'], Caller> {
  return async ({ caller, request, reply, log }) => {
    const { raw } = reply.hijack();
    raw.writeHead(200, {
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
      'x-correlation-id': request.id,
    });
    let bindings = caller.bindings;
    const send = (event: LoggedEvent): void => {
      const data = maySee(bindings, event) ? `data: ${JSON.stringify(event.envelope)}\n` : '';
      if (raw.writableLength > MAX_BUFFERED_BYTES) raw.destroy();
      else if (data) raw.write(`id: ${formatCursor(event.cursor)}\n${data}\n`);
    };
    // While the past is read, the present is kept aside.
    let waiting: LoggedEvent[] | null = [];
    const { from, unsubscribe } = tail.subscribe((event) => (waiting ? waiting.push(event) : send(event)));
    const lastSeen = parseCursor(String(request.headers['last-event-id'] ?? ''));
    // A place to resume from, also for a stream that breaks before its first event; never ahead of what was sent.
    const mark = (cursor: Cursor) => raw.write(`id: ${formatCursor(cursor)}\ndata:\n\n`);
    mark(lastSeen ?? from);
    const keepalive = setInterval(() => raw.write(': keepalive\n\n'), KEEPALIVE_MS);
    const recheck = setInterval(() => {
      void inScope(services.db, { role: 'gpuaas_auth' }, async (tx) => {
        if (await stillAuthenticated(tx, caller)) bindings = await loadBindings(tx, caller.userId);
        else raw.end();
      }).catch((error: unknown) => log.warn({ err: error }, 'event stream could not recheck its caller'));
    }, RECHECK_MS);
    raw.on('close', () => {
      unsubscribe();
      clearInterval(keepalive);
      clearInterval(recheck);
    });
    try {
      if (lastSeen) {
        await replay(services, caller, raw, { after: lastSeen, until: from }, send);
        mark(from);
      }
    } catch (error) {
      log.warn({ err: error }, 'event stream replay failed');
      raw.destroy();
    }
    for (const event of waiting) send(event);
    waiting = null;
    return HIJACKED;
  };
}

async function replay(
  { db }: Services,
  { id, bindings }: Caller,
  raw: ServerResponse,
  range: { after: Cursor; until: Cursor },
  send: (event: LoggedEvent) => void,
): Promise<void> {
  let cursor = range.after;
  const mayReadFleet = permissionsAt(bindings, { kind: 'platform' }).has('fleet.read');
  const scope = scopeOf(id, bindings, mayReadFleet ? 'fleet.read' : undefined);
  while (!raw.destroyed) {
    const events = await inScope(db, scope, (tx) => readEvents(tx, cursor, REPLAY_PAGE));
    for (const event of events) {
      if (isAfter(event.cursor, range.until)) return;
      send(event);
      cursor = event.cursor;
    }
    if (events.length < REPLAY_PAGE) return;
    if (raw.writableNeedDrain) await Promise.race([once(raw, 'drain'), once(raw, 'close')]);
  }
}

/** Tenant events by project rights; events of nobody's tenant are the operators'. */
function maySee(bindings: Binding[], event: LoggedEvent): boolean {
  if (event.organizationId === null) return permissionsAt(bindings, { kind: 'platform' }).has('fleet.read');
  const projectId = event.envelope.payload['project_id'];
  if (typeof projectId !== 'string') return false;
  const scope = { kind: 'project', organizationId: event.organizationId, projectId } as const;
  return permissionsAt(bindings, scope).has('allocation.read');
}
