import { sql } from 'kysely';
import type { Db, Tx } from '../db/database.ts';
import { headCursor, LOG_START, type Cursor } from './event-log.ts';

export const LEASE_SECONDS = 10;

export interface ConsumerState {
  cursor: Cursor;
  failures: number;
}

/** Creates the consumer's row at its first start. */
export async function registerConsumer(db: Db, name: string, startFrom: 'beginning' | 'now'): Promise<void> {
  const start = startFrom === 'now' ? await headCursor(db) : LOG_START;
  await sql`insert into event_consumers (name, cursor_xid, cursor_position)
    values (${name}, ${start.xid}::xid8, ${start.position}) on conflict do nothing`.execute(db);
}

/** Takes or renews the lease; null while another process holds it. */
export async function acquireLease(db: Db, name: string, runner: string): Promise<ConsumerState | null> {
  const { rows } = await sql<{ xid: string; position: string; failures: number }>`
    update event_consumers
    set runner = ${runner}, lease_expires_at = now() + make_interval(secs => ${LEASE_SECONDS})
    where name = ${name} and (runner = ${runner} or lease_expires_at < now())
    returning cursor_xid::text as xid, cursor_position::text as position, failures`.execute(db);
  const row = rows[0];
  if (!row) return null;
  return { cursor: { xid: row.xid, position: row.position }, failures: row.failures };
}

/** Moves the cursor; false if the lease was lost to another process. */
export async function advanceCursor(db: Db | Tx, name: string, runner: string, to: Cursor): Promise<boolean> {
  const result = await sql`
    update event_consumers
    set cursor_xid = ${to.xid}::xid8, cursor_position = ${to.position},
      failures = 0, last_error = null, advanced_at = now()
    where name = ${name} and runner = ${runner}`.execute(db);
  return result.numAffectedRows === 1n;
}

export async function recordFailure(db: Db, name: string, runner: string, error: string): Promise<number> {
  const { rows } = await sql<{ failures: number }>`
    update event_consumers set failures = failures + 1, last_error = ${error}
    where name = ${name} and runner = ${runner} returning failures`.execute(db);
  return rows[0]?.failures ?? 1;
}

export async function releaseLease(db: Db, name: string, runner: string): Promise<void> {
  await sql`update event_consumers set runner = null, lease_expires_at = '-infinity'
    where name = ${name} and runner = ${runner}`.execute(db);
}
