import { sql } from 'kysely';
import { monthStart } from '../../../platform/clock.ts';
import type { Tx } from '../../../platform/db/database.ts';

/** What automatic top-ups of the month (UTC) took or may still take: only what failed does not count. */
export async function chargedThisMonth(
  tx: Tx,
  { organizationId, currency }: { organizationId: string; currency: string },
  now: Date,
): Promise<bigint> {
  const { rows } = await sql<{ micros: bigint }>`
    select coalesce(sum(coalesce(received_micros, amount_micros)), 0)::bigint as micros from payments
    where organization_id = ${organizationId} and currency = ${currency} and purpose = 'auto_top_up'
      and created_at >= ${monthStart(now)} and state not in ('failed', 'expired')`.execute(tx);
  return rows[0]!.micros;
}
