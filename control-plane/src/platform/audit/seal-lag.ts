import { sql } from 'kysely';
import type { Db, Tx } from '../db/database.ts';
import { one } from '../db/one.ts';

export interface SealLag {
  unsealedRows: number;
  /** Age of the oldest row that is not sealed; 0 when all are. */
  seconds: number;
}

/** How far the chain is behind the log. */
export async function readSealLag(db: Db | Tx): Promise<SealLag> {
  const row = await one(
    sql<{ unsealed: number; seconds: number }>`
    with head as (
      select coalesce(max(upto_xid), 0) as xid,
        coalesce((select upto_id from audit_segments order by segment desc limit 1),
          '00000000-0000-0000-0000-000000000000') as id
      from audit_segments
    )
    select count(*)::float8 as unsealed, coalesce(extract(epoch from now() - min(l.occurred_at)), 0)::float8 as seconds
    from head, audit_logs l where (l.xid, l.id) > (head.xid, head.id)`,
    db,
  );
  const { unsealed, seconds } = row;
  return { unsealedRows: unsealed, seconds };
}
