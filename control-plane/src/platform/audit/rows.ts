import { sql } from 'kysely';
import { NIL_ID } from '../ids.ts';
import type { Db, Tx } from '../db/database.ts';

/** Where a row stands in the log. */
export interface LogPosition {
  xid: bigint;
  id: string;
}

export const LOG_BEGINNING: LogPosition = { xid: 0n, id: NIL_ID };

/**
 * Every column of a row as the database prints it. This text, and nothing that was parsed from it, is hashed: a digit
 * beyond the precision of a number or a microsecond is a change like any other.
 */
export const auditColumns = [
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

export type AuditRow = Record<(typeof auditColumns)[number], string | null> & {
  id: string;
  xid: string;
  occurred_at: string;
};

const asText = sql.raw(
  auditColumns
    .map((column) =>
      column === 'occurred_at'
        ? `to_char(occurred_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as occurred_at`
        : `"${column}"::text as "${column}"`,
    )
    .join(', '),
);

/** Rows that no later commit can precede, in order. */
export async function stableRows(db: Db | Tx, after: LogPosition, limit: number): Promise<AuditRow[]> {
  const { rows } = await sql<AuditRow>`
    select ${asText} from audit_logs
    where (xid, id) > (${after.xid}::bigint, ${after.id}::uuid) and xid < audit_horizon()
    order by audit_logs.xid, audit_logs.id limit ${limit}`.execute(db);
  return rows;
}

/**
 * Rows after one position up to and including another, in order; one more than `limit` shows that there are
 * more.
 */
export async function rowsBetween(
  db: Db | Tx,
  after: LogPosition,
  upto: LogPosition,
  limit: number,
): Promise<AuditRow[]> {
  const { rows } = await sql<AuditRow>`
    select ${asText} from audit_logs
    where (xid, id) > (${after.xid}::bigint, ${after.id}::uuid) and (xid, id) <= (${upto.xid}::bigint, ${upto.id}::uuid)
    order by audit_logs.xid, audit_logs.id limit ${limit + 1}`.execute(db);
  return rows;
}

export function positionOf(row: AuditRow): LogPosition {
  return { xid: BigInt(row.xid), id: row.id };
}

/** First day of the month, UTC, whose partition holds the row. */
export function monthOf(row: AuditRow): string {
  return `${row.occurred_at.slice(0, 7)}-01`;
}
