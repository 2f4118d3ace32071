import { sql } from 'kysely';
import type { Tx } from '../../platform/db/database.ts';

/** What a tenant has and spends in one currency, of all its running leases. */
export interface TenantFunds {
  organizationId: string;
  currency: string;
  balanceMicros: bigint;
  perHourMicros: bigint;
  /** Since the last debits. Time that turns out not to be served is still in it, so it is never too little. */
  accruedMicros: bigint;
}

/** One statement for a tenant, or for all that have running leases: a launch waits for it. */
export async function readFunds(tx: Tx, now: Date, organizationId?: string): Promise<TenantFunds[]> {
  const { rows } = await sql<TenantFunds>`
    with running as (
      select m.organization_id, m.currency, sum(m.per_hour_micros) as rate,
        sum(div(m.per_hour_micros::numeric * greatest(0, floor(extract(epoch from
          least(${now}::timestamptz, coalesce(a.release_requested_at, ${now})) - m.started_at)) - m.metered_seconds), 3600))
          as accrued
      from allocation_meters m join allocations a on a.id = m.allocation_id
      where m.ended_at is null and (${organizationId ?? null}::uuid is null or m.organization_id = ${organizationId ?? null})
      group by 1, 2
    )
    select coalesce(r.organization_id, b.organization_id) as "organizationId", coalesce(r.currency, b.currency) as currency,
      coalesce(b.micros, 0) as "balanceMicros", coalesce(r.rate, 0)::bigint as "perHourMicros",
      coalesce(r.accrued, 0)::bigint as "accruedMicros"
    from running r full join (select * from balance_snapshots
      where ${organizationId ?? null}::uuid is null or organization_id = ${organizationId ?? null}) b
      on b.organization_id = r.organization_id and b.currency = r.currency
    order by 1, 2`.execute(tx);
  return rows;
}

/** What may still be spent: the balance without what has accrued, and with the credit line. */
export function availableMicros(funds: TenantFunds, creditLineMicros: number): bigint {
  return funds.balanceMicros - funds.accruedMicros + BigInt(creditLineMicros);
}

/** When it is used up at the rate of now; null while nothing is spent. */
export function runsOutAt(available: bigint, perHourMicros: bigint, now: Date): Date | null {
  if (perHourMicros <= 0n) return null;
  const ms = available > 0n ? (available * 3_600_000n) / perHourMicros : 0n;
  return new Date(now.getTime() + Number(ms < FOREVER_MS ? ms : FOREVER_MS));
}

/** A century; dates end somewhere. */
const FOREVER_MS = 3_155_760_000_000n;
