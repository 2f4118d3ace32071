import { sql } from 'kysely';
import type { Tx } from '../../../platform/db/database.ts';
import type { ReportedRecord } from './check-record.ts';

/** Records of a batch that exist already: their content by id. */
export async function findExistingRecords(
  tx: Tx,
  producer: string,
  records: readonly ReportedRecord[],
): Promise<Map<string, string>> {
  const ids = records.map(({ record_id }) => record_id);
  const { rows } = await sql<Omit<ReportedRecord, 'quantity' | 'occurred_at'> & Stored>`
    select record_id, organization_id, project_id, user_id, allocation_id, app_instance_id, app, dimension, quantity, occurred_at
    from app_usage_records where producer = ${producer} and record_id = any (${ids}::text[])`.execute(tx);
  return new Map(
    rows.map((row) => [
      row.record_id,
      recordFingerprint({
        ...row,
        quantity: Number(row.quantity),
        occurred_at: row.occurred_at.toISOString(),
      }),
    ]),
  );
}

interface Stored {
  quantity: bigint;
  occurred_at: Date;
}

/** Equal for equal records, in whatever form the time was written. */
export function recordFingerprint(record: ReportedRecord): string {
  return JSON.stringify([
    record.organization_id,
    record.project_id,
    record.user_id ?? null,
    record.allocation_id ?? null,
    record.app_instance_id ?? null,
    record.app,
    record.dimension,
    record.quantity,
    new Date(record.occurred_at).toISOString(),
  ]);
}
