import { sql } from 'kysely';
import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Tx } from '../../platform/db/database.ts';
import { Problem } from '../../platform/http/problem.ts';

interface SealedMonth {
  last_segment: bigint;
  row_count: bigint;
  head_hash: Buffer;
  unsealed: boolean;
  ended: boolean;
}

/**
 * Records that the month's export is stored; the caller proves it by the head that it ends with. The first
 * confirmation counts.
 */
export async function confirmExport(
  tx: Tx,
  confirmation: { month: string; head_hash: string; callerId: string },
): Promise<components['schemas']['AuditExport']> {
  const month = `${confirmation.month}-01`;
  const sealed = await readMonth(tx, month);
  if (!sealed) throw refused('No row of the month is sealed.');
  if (!sealed.ended || sealed.unsealed)
    throw refused('The month is not over, or not sealed to its last row.');
  if (sealed.head_hash.toString('hex') !== confirmation.head_hash) {
    throw refused('The month does not end with this head; export it to its last line.');
  }
  await tx
    .insertInto('audit_exports')
    .values({
      month,
      last_segment: sealed.last_segment,
      row_count: sealed.row_count,
      head_hash: sealed.head_hash,
      confirmed_by: confirmation.callerId,
    })
    .onConflict((c) => c.column('month').doNothing())
    .execute();
  const row = await tx
    .selectFrom('audit_exports')
    .selectAll()
    .where('month', '=', sql<Date>`${month}::date`)
    .executeTakeFirstOrThrow();
  return {
    month: confirmation.month,
    last_segment: Number(row.last_segment),
    row_count: Number(row.row_count),
    head_hash: row.head_hash.toString('hex'),
    confirmed_by: row.confirmed_by,
    confirmed_at: row.confirmed_at.toISOString(),
  };
}

async function readMonth(tx: Tx, month: string): Promise<SealedMonth | undefined> {
  const { rows } = await sql<SealedMonth>`
    select max(s.segment) as last_segment, sum(s.row_count)::bigint as row_count,
      (array_agg(s.head_hash order by s.segment desc))[1] as head_hash,
      (${month}::date + interval '1 month') at time zone 'UTC' <= now() as ended,
      sum(s.row_count) <> (select count(*) from audit_logs l
        where l.occurred_at >= ${month}::date::timestamp at time zone 'UTC'
          and l.occurred_at < (${month}::date + interval '1 month') at time zone 'UTC') as unsealed
    from audit_segments s where s.month = ${month}::date having count(*) > 0`.execute(tx);
  return rows[0];
}

function refused(detail: string): Problem {
  return new Problem('audit_export_not_confirmable', detail);
}
