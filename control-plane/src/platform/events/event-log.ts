import { sql } from 'kysely';
import type { Db } from '../db/database.ts';

/** A position in the event log: transaction id, then position inside it. */
export interface Cursor {
  xid: string;
  position: string;
}

export interface LoggedEvent {
  cursor: Cursor;
  organizationId: string | null;
  subjectId: string;
  envelope: Envelope;
}

export interface Envelope {
  event_id: string;
  event_type: string;
  occurred_at: string;
  version: number;
  correlation_id: string;
  payload: Record<string, unknown>;
}

export const LOG_START: Cursor = { xid: '0', position: '0' };

export function formatCursor({ xid, position }: Cursor): string {
  return `${xid}-${position}`;
}

/** Bounds of PostgreSQL's types: an xid8, a bigint. */
const LAST_XID = 2n ** 64n - 1n;
const LAST_POSITION = 2n ** 63n - 1n;

/** Null for a text that cannot be the position of an event. */
export function parseCursor(text: string): Cursor | null {
  const [, xid, position] = /^(\d{1,20})-(\d{1,19})$/.exec(text) ?? [];
  if (xid === undefined || position === undefined) return null;
  return BigInt(xid) <= LAST_XID && BigInt(position) <= LAST_POSITION ? { xid, position } : null;
}

export function isAfter(a: Cursor, b: Cursor): boolean {
  if (a.xid !== b.xid) return BigInt(a.xid) > BigInt(b.xid);
  return BigInt(a.position) > BigInt(b.position);
}

/** Start of a reader that wants only new events. */
export async function headCursor(db: Db): Promise<Cursor> {
  const { rows } = await sql<Cursor>`
    select xid::text as xid, position::text as position from outbox_events
    where xid < pg_snapshot_xmin(pg_current_snapshot())
    order by xid desc, position desc limit 1`.execute(db);
  return rows[0] ?? LOG_START;
}

/** The next events after `cursor` that are safe to read. */
export async function readEvents(db: Db, cursor: Cursor, limit: number): Promise<LoggedEvent[]> {
  return (await readLog(db, cursor, limit)).events;
}

/**
 * Reads only transactions older than every running one: a later commit also sorts later, so no event is ever
 * skipped. `held` means that committed events wait for an older transaction to end.
 */
export async function readLog(
  db: Db,
  cursor: Cursor,
  limit: number,
): Promise<{ events: LoggedEvent[]; held: boolean }> {
  const { rows } = await sql<{
    xid: string;
    position: string;
    safe: boolean;
    event_id: string;
    event_type: string;
    occurred_at: Date;
    version: number;
    correlation_id: string;
    organization_id: string | null;
    subject_id: string;
    payload: Record<string, unknown>;
  }>`
    select xid::text as xid, position::text as position, xid < pg_snapshot_xmin(pg_current_snapshot()) as safe,
      event_id, event_type, occurred_at, version, correlation_id, organization_id, subject_id, payload
    from outbox_events e
    where (e.xid, e.position) > (${cursor.xid}::xid8, ${cursor.position}::bigint)
    order by e.xid, e.position limit ${limit}`.execute(db);
  const unsafe = rows.findIndex((row) => !row.safe);
  const safe = unsafe === -1 ? rows : rows.slice(0, unsafe);
  const events = safe.map((row) => ({
    cursor: { xid: row.xid, position: row.position },
    organizationId: row.organization_id,
    subjectId: row.subject_id,
    envelope: {
      event_id: row.event_id,
      event_type: row.event_type,
      occurred_at: row.occurred_at.toISOString(),
      version: row.version,
      correlation_id: row.correlation_id,
      payload: row.payload,
    },
  }));
  return { events, held: unsafe !== -1 };
}

/**
 * A dump restored into another server has higher transaction ids than that server; its events would never be
 * read.
 */
export async function assertLogIsReadable(db: Db): Promise<void> {
  const { rows } = await sql<{ foreign: boolean }>`
    select coalesce(max(xid) >= pg_snapshot_xmax(pg_current_snapshot()), false) as foreign from (
      select xid from outbox_events union all select cursor_xid from event_consumers
    ) as known(xid)`.execute(db);
  if (rows[0]?.foreign) {
    throw new Error(
      'The event log comes from another database server. Stop the platform and run: select rebase_event_log();',
    );
  }
}
