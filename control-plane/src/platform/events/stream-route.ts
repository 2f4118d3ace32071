import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { personalEventTypes } from '@gpuaas/contracts/events';
import type { operations } from '@gpuaas/contracts/generated/openapi.ts';
import { permissionsAt, scopeOf, type Binding, type Caller } from '../auth/caller.ts';
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
import { followRights, type FollowedRights } from '../auth/follow-rights.ts';
import type { EventTail } from './tail.ts';

const KEEPALIVE_MS = 15_000;
const REPLAY_PAGE = 500;
const MAX_BUFFERED_BYTES = 1024 * 1024;

type Send = (bindings: Binding[], event: LoggedEvent) => void;

const PERSONAL: ReadonlySet<string> = new Set(personalEventTypes);

/** `GET /api/v1/events/stream`: what the caller may see, from `Last-Event-ID` on, cut when the rights end. */
export function streamEvents(
  services: Services,
  tail: EventTail,
): Handler<operations['streamEvents'], Caller> {
  return async ({ caller, request, reply, log }) => {
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
    const write = (text: string): void => {
      if (raw.destroyed || raw.writableEnded) return;
      if (raw.writableLength > MAX_BUFFERED_BYTES) raw.destroy();
      else raw.write(text);
    };
    const send: Send = (bindings, event) => {
      if (maySee(caller, bindings, event))
        write(`id: ${formatCursor(event.cursor)}\ndata: ${JSON.stringify(event.envelope)}\n\n`);
    };
    const rights = followRights({ db: services.db, log, onEnd: () => raw.end() }, caller);
    // Kept aside while the past is read, and while the rights are being confirmed.
    const waiting: LoggedEvent[] = [];
    let busy = true;
    const sendWaiting = async (): Promise<void> => {
      busy = true;
      while (waiting.length > 0) {
        const bindings = await rights.fresh();
        if (!bindings) return;
        for (const event of waiting.splice(0)) send(bindings, event);
      }
      busy = false;
    };
    const { from, unsubscribe } = tail.subscribe((event) => {
      if (raw.writableEnded) return;
      waiting.push(event);
      if (!busy) void sendWaiting();
    });
    const lastSeen = parseCursor(String(request.headers['last-event-id'] ?? ''));
    // A place to resume from, also for a stream that breaks before its first event; never ahead of what was sent.
    const mark = (cursor: Cursor) => write(`id: ${formatCursor(cursor)}\ndata:\n\n`);
    mark(lastSeen ?? from);
    const keepalive = setInterval(() => write(': keepalive\n\n'), KEEPALIVE_MS);
    raw.on('close', () => {
      unsubscribe();
      clearInterval(keepalive);
      rights.stop();
    });
    try {
      if (lastSeen) {
        await replay(services, caller, raw, { after: lastSeen, until: from }, rights, send);
        mark(from);
      }
      await sendWaiting();
    } catch (error) {
      log.warn({ err: error }, 'event stream replay failed');
      raw.destroy();
    }
    return HIJACKED;
  };
}

async function replay(
  { db }: Services,
  caller: Caller,
  raw: ServerResponse,
  range: { after: Cursor; until: Cursor },
  rights: FollowedRights,
  send: Send,
): Promise<void> {
  let cursor = range.after;
  const mayReadFleet = permissionsAt(caller.bindings, { kind: 'platform' }).has('fleet.read');
  const scope = scopeOf(caller, mayReadFleet ? 'fleet.read' : undefined);
  while (!raw.destroyed) {
    const events = await inScope(db, scope, (tx) => readEvents(tx, cursor, REPLAY_PAGE));
    const current = await rights.fresh();
    if (!current) return;
    for (const event of events) {
      if (isAfter(event.cursor, range.until)) return;
      send(current, event);
      cursor = event.cursor;
    }
    if (events.length < REPLAY_PAGE) return;
    if (raw.writableNeedDrain) await Promise.race([once(raw, 'drain'), once(raw, 'close')]);
  }
}

/** Tenant events by project rights, or the tenant's; events of nobody's tenant are the operators'. */
function maySee({ userId }: Caller, bindings: Binding[], event: LoggedEvent): boolean {
  const { organizationId, envelope } = event;
  if (PERSONAL.has(envelope.event_type)) return userId !== null && envelope.payload['user_id'] === userId;
  if (organizationId === null) return permissionsAt(bindings, { kind: 'platform' }).has('fleet.read');
  const { project_id: projectId = null, project_ids: projectIds } = envelope.payload;
  const mayInProject = (id: unknown): boolean =>
    typeof id === 'string' &&
    permissionsAt(bindings, { kind: 'project', organizationId, projectId: id }).has('allocation.read');
  if (projectId !== null) return mayInProject(projectId);
  return (
    permissionsAt(bindings, { kind: 'tenant', organizationId }).has('billing.read') ||
    (Array.isArray(projectIds) && projectIds.some(mayInProject))
  );
}
