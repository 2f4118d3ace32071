import { sql } from 'kysely';
import type { Db } from '../../platform/db/database.ts';
import type { Counter } from './counter.ts';

export interface QuotaFault extends Counter {
  counted: bigint;
  held: bigint;
}

/** Counters that differ from the live claims. One statement, so that counters and claims are of one moment. */
export async function verifyQuotas(db: Db, limit: number): Promise<QuotaFault[]> {
  const { rows } = await sql<QuotaFault>`
    select organization_id as "organizationId", holder_type as "holderType", holder_id as "holderId", measure, unit,
      coalesce(u.used, 0) as counted, coalesce(c.used, 0) as held
    from quota_usage u full join claimed_quota c using (organization_id, holder_type, holder_id, measure, unit)
    where coalesce(u.used, 0) <> coalesce(c.used, 0)
    order by 1, 2, 3, 4, 5
    limit ${limit}`.execute(db);
  return rows;
}
