import { sql } from 'kysely';
import { monthStart } from '../../../platform/clock.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { one } from '../../../platform/db/one.ts';

/** Automatic top-ups of the month (UTC) that were charged or may still be: all but failed ones. */
export async function chargedThisMonth(
  tx: Tx,
  { organizationId, currency }: { organizationId: string; currency: string },
  now: Date,
): Promise<bigint> {
  const row = await one(
    sql<{ micros: bigint }>`
    select coalesce(sum(coalesce(received_micros, amount_micros)), 0)::bigint as micros from payments
    where organization_id = ${organizationId} and currency = ${currency} and purpose = 'auto_top_up'
      and created_at >= ${monthStart(now)} and state not in ('failed', 'expired')`,
    tx,
  );
  return row.micros;
}
