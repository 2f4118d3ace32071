import type { Db } from '@gpuaas/control-plane/platform/db/database';
import { newId } from '@gpuaas/control-plane/platform/ids';
import { sql } from 'kysely';

/** The last hour of a lease for 2.99 an hour, as the meter would record it. */
export async function recordHour(db: Db, allocationId: string): Promise<void> {
  const [usage, transaction, correlation] = [newId(), newId(), newId()];
  await db.transaction().execute(async (tx) => {
    await sql`insert into allocation_meters (allocation_id, organization_id, project_id, sku, region, gpu_count, currency,
        per_hour_micros, started_at, metered_seconds, billed_seconds, billed_micros, records)
      select id, organization_id, project_id, sku, region, gpu_count, currency, 2990000, now() - interval '1 hour', 3600,
        3600, 2990000, 1 from allocations where id = ${allocationId}
      on conflict (allocation_id) do nothing`.execute(tx);
    await sql`insert into ledger_transactions (id, organization_id, kind, currency, posting_key, reason, correlation_id)
      select ${transaction}, organization_id, 'usage', 'USD', ${`usage:${usage}`}, 'u', ${correlation} from allocations
      where id = ${allocationId}`.execute(tx);
    await sql`insert into ledger_entries (id, transaction_id, organization_id, currency, account, amount_micros)
      select gen_random_uuid(), id, organization_id, 'USD', account, amount
      from ledger_transactions, (values ('tenant_balance', -2990000), ('revenue', 2990000)) as e (account, amount)
      where id = ${transaction}`.execute(tx);
    await sql`insert into usage_records (id, allocation_id, sequence, organization_id, project_id, sku, region, gpu_count,
        currency, per_hour_micros, from_second, to_second, window_from, window_to, billed_seconds, billed_before,
        amount_micros, reason, ledger_transaction_id, recorded_at)
      select ${usage}, allocation_id, 1, organization_id, project_id, sku, region, gpu_count, 'USD', 2990000, 0, 3600,
        started_at, started_at + interval '1 hour', 3600, 0, 2990000, 'served', ${transaction}, now()
      from allocation_meters where allocation_id = ${allocationId}`.execute(tx);
  });
}
