import { sql, type RawBuilder } from 'kysely';
import type { Tx } from '../../../platform/db/database.ts';

/** Funds of a tenant in one currency and the rate of its running leases; an ending lease no longer spends. */
export interface TenantFunds {
  organizationId: string;
  currency: string;
  balanceMicros: bigint;
  perHourMicros: bigint;
  /** Since the last debits. Includes time that may turn out as not served, so it is never too little. */
  accruedMicros: bigint;
  /** A payment was settled, or an operator granted credit. */
  paid: boolean;
}

/** Funds of one tenant, which a launch waits for. */
export async function readFunds(tx: Tx, now: Date, organizationId: string): Promise<TenantFunds[]> {
  return await readFundsOfTenants(tx, now, [organizationId]);
}

export async function readFundsOfTenants(
  tx: Tx,
  now: Date,
  organizationIds: readonly string[],
): Promise<TenantFunds[]> {
  return await fundsOf(tx, now, sql`select unnest(${organizationIds}::uuid[]) as organization_id`);
}

/** The next tenants, by id, that have or spend funds; a tenant has one row per currency. */
export async function readFundsPage(
  tx: Tx,
  now: Date,
  page: { after: string; tenants: number },
): Promise<TenantFunds[]> {
  const { after, tenants } = page;
  return await fundsOf(
    tx,
    now,
    sql`select organization_id from (
        select organization_id from balance_snapshots where organization_id > ${after}
        union
        select organization_id from allocation_meters where ended_at is null and organization_id > ${after}) known
      order by 1 limit ${tenants}`,
  );
}

async function fundsOf(tx: Tx, now: Date, tenants: RawBuilder<unknown>): Promise<TenantFunds[]> {
  const { rows } = await sql<TenantFunds>`
    select asked.organization_id as "organizationId", f.currency, f.balance_micros as "balanceMicros",
      f.per_hour_micros as "perHourMicros", f.accrued_micros as "accruedMicros", f.paid
    from (${tenants}) as asked cross join lateral tenant_funds(asked.organization_id, ${now}) as f
    order by 1, 2`.execute(tx);
  return rows;
}

/** Spendable funds: the balance minus accruals, plus the credit line. */
export function availableMicros(funds: TenantFunds, creditLineMicros: number): bigint {
  return funds.balanceMicros - funds.accruedMicros + BigInt(creditLineMicros);
}

/** When the funds run out at the current rate; null while nothing is spent. */
export function runsOutAt(available: bigint, perHourMicros: bigint, now: Date): Date | null {
  if (perHourMicros <= 0n) return null;
  const ms = available > 0n ? (available * 3_600_000n) / perHourMicros : 0n;
  return new Date(now.getTime() + Number(ms < FOREVER_MS ? ms : FOREVER_MS));
}

/** A century, because dates have a maximum. */
const FOREVER_MS = 3_155_760_000_000n;
