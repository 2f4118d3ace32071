import { sql } from 'kysely';
import { checkpointOf, type Checkpoint, type SegmentRow } from '../../platform/audit/checkpoint.ts';
import type { Tx } from '../../platform/db/database.ts';
import { decodePage, toPage, type Page } from '../../platform/http/page.ts';

export async function listCheckpoints(
  tx: Tx,
  query: { limit: number; page?: string },
): Promise<Page<{ checkpoint: Checkpoint; signature: string }>> {
  const before = decodePage(query.page, ['integer'])?.[0] ?? '999999999999999999';
  const { rows } = await sql<Omit<SegmentRow, 'leaves'>>`
    select segment, to_char(month, 'YYYY-MM-DD') as month, row_count, upto_xid, upto_id, previous_hash, head_hash,
      sealed_at, key_id, signature
    from audit_segments where segment < ${before}::bigint
    order by audit_segments.segment desc limit ${query.limit + 1}`.execute(tx);
  const page = toPage(rows, query.limit, (row) => [String(row.segment)]);
  const items = page.rows.map((row) => ({ checkpoint: checkpointOf(row), signature: row.signature }));
  return { items, next_page: page.next_page };
}
