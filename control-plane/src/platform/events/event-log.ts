import { sql } from 'kysely';
import type { Db } from '../db/database.ts';

/** A place in the event log: transaction id, then position inside it. */
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

export function formatCursor({ xid, position }: Cursor): string {
  return `${xid}-${position}`;
}

export function parseCursor(text: string): Cursor | null {
  const match = /^(\d{1,20})-(\d{1,19})$/.exec(text);
  return match ? { xid: match[1]!, position: match[2]! } : null;
}

/** Where a reader starts that wants only what comes from now on. */
export async function headCursor(db: Db): Promise<Cursor> {
  const { rows } = await sql<Cursor>`
    select xid::text as xid, position::text as position from outbox_events
    where xid < pg_snapshot_xmin(pg_current_snapshot())
    order by xid desc, position desc limit 1`.execute(db);
  return rows[0] ?? { xid: '0', position: '0' };
}

/**
 * The next events after `cursor`. Only transactions older than every running one are read: what commits
 * later also sorts later, so no event is ever skipped.
 */
export async function readEvents(db: Db, cursor: Cursor, limit: number): Promise<LoggedEvent[]> {
  const { rows } = await sql<{
    xid: string;
    position: string;
    event_id: string;
    event_type: string;
    occurred_at: Date;
    version: number;
    correlation_id: string;
    organization_id: string | null;
    subject_id: string;
    payload: Record<string, unknown>;
  }>`
    select xid::text as xid, position::text as position, event_id, event_type, occurred_at, version,
      correlation_id, organization_id, subject_id, payload
    from outbox_events
    where (xid, position) > (${cursor.xid}::xid8, ${cursor.position}::bigint)
      and xid < pg_snapshot_xmin(pg_current_snapshot())
    order by xid, position limit ${limit}`.execute(db);
  return rows.map((row) => ({
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
}
