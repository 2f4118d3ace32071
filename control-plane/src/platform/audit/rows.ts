import { sql } from 'kysely';
import type { Db, Tx } from '../db/database.ts';

/** Where a row stands in the log. */
export interface Place {
  xid: bigint;
  id: string;
}

export const BEGINNING: Place = { xid: 0n, id: '00000000-0000-0000-0000-000000000000' };

/**
 * Every column of a row as the database prints it. This text, and nothing that was parsed from it, is hashed: a digit
 * beyond the precision of a number or a microsecond is a change like any other.
 */
export const columns = [
  'id',
  'xid',
  'occurred_at',
  'actor_user_id',
  'actor_kind',
  'actor_role',
  'credential_id',
  'ip',
  'action',
  'target_type',
  'target_id',
  'result',
  'correlation_id',
  'organization_id',
  'before',
  'after',
  'detail',
] as const;

export type AuditRow = Record<(typeof columns)[number], string | null> & {
  id: string;
  xid: string;
  occurred_at: string;
};

const asText = sql.raw(
  columns
    .map((column) =>
      column === 'occurred_at'
        ? `to_char(occurred_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as occurred_at`
        : `"${column}"::text as "${column}"`,
    )
    .join(', '),
);

/** Rows that can no longer get company before them, in order. */
export async function settledRows(db: Db | Tx, after: Place, limit: number): Promise<AuditRow[]> {
  const { rows } = await sql<AuditRow>`
    select ${asText} from audit_logs
    where (xid, id) > (${after.xid}::bigint, ${after.id}::uuid) and xid < audit_horizon()
    order by audit_logs.xid, audit_logs.id limit ${limit}`.execute(db);
  return rows;
}

/** Rows after one place up to and with another, in order; one more than `limit` tells that there are more. */
export async function rowsBetween(
  db: Db | Tx,
  after: Place,
  upto: Place,
  limit: number,
): Promise<AuditRow[]> {
  const { rows } = await sql<AuditRow>`
    select ${asText} from audit_logs
    where (xid, id) > (${after.xid}::bigint, ${after.id}::uuid) and (xid, id) <= (${upto.xid}::bigint, ${upto.id}::uuid)
    order by audit_logs.xid, audit_logs.id limit ${limit + 1}`.execute(db);
  return rows;
}

export function placeOf(row: AuditRow): Place {
  return { xid: BigInt(row.xid), id: row.id };
}

/** First day of the month, UTC, whose partition holds the row. */
export function monthOf(row: AuditRow): string {
  return `${row.occurred_at.slice(0, 7)}-01`;
}
