import { sql } from 'kysely';
import type { Db } from '../../../platform/db/database.ts';
import type { AccountingFault } from '../metering/verify-usage.ts';
import { first } from '../../../platform/present.ts';

/**
 * Checks that each record has its price, each debit is the sum of its records, and no lease time is charged
 * twice.
 */
export async function verifyAppUsage(db: Db): Promise<{ records: bigint; faults: AccountingFault[] }> {
  const { rows: counts } = await sql<{ records: bigint }>`
    select count(*) as records from app_usage_records`.execute(db);
  const { rows } = await sql<AccountingFault>`
    with ordered as (
      select r.*, coalesce(sum(quantity) over before, 0) as used_so_far,
        row_number() over (partition by meter_id order by sequence) as place
      from app_usage_records r where meter_id is not null
      window before as (partition by meter_id order by sequence rows between unbounded preceding and 1 preceding)
    ), debits as (
      select ledger_transaction_id as id, sum(amount_micros) as micros from app_usage_records
      where ledger_transaction_id is not null group by 1
    ), totals as (
      select meter_id as id, count(*) as records, sum(quantity) as quantity from app_usage_records
      where meter_id is not null group by 1
    )
    select 'app usage ' || id as about, case
        when sequence <> place then 'is not the next record of its meter'
        when quantity_before <> used_so_far then 'counts from ' || quantity_before || ' instead of ' || used_so_far
        else 'costs ' || amount_micros || ' which is not its quantity at its price' end as what
    from ordered
    where sequence <> place or quantity_before <> used_so_far
      or amount_micros <> div(per_block_micros::numeric * (quantity_before + quantity), block)
        - div(per_block_micros::numeric * quantity_before, block)
    union all
    select 'app usage ' || r.id, 'was not agreed: its price is ' || p.per_block_micros || ' ' || p.currency || ' for '
      || p.block
    from app_usage_records r join app_usage_meters m on m.id = r.meter_id join app_usage_prices p on p.id = m.price_id
    where (r.organization_id, r.app, r.dimension, r.currency, r.per_block_micros, r.block)
      is distinct from (m.organization_id, p.app, p.dimension, p.currency, p.per_block_micros, p.block)
      or r.occurred_at < p.effective_from
    union all
    select 'app usage ' || id, 'charges time that a lease pays for' from app_usage_records
    where allocation_id is not null and dimension = 'model_seconds' and amount_micros <> 0
    union all
    select 'debit ' || coalesce(t.id, d.id), 'is ' || coalesce(-e.amount_micros, 0) || ' for app usage of '
      || coalesce(d.micros, 0)
    from (select * from ledger_transactions where kind = 'app_usage') t
      full join debits d on d.id = t.id
      left join ledger_entries e on e.transaction_id = t.id and e.account = 'tenant_balance'
    where coalesce(-e.amount_micros, 0) <> coalesce(d.micros, 0)
    union all
    select 'app meter ' || m.id, 'does not say what its records say' from app_usage_meters m
      left join totals t on t.id = m.id
    where (m.records, m.quantity) is distinct from (coalesce(t.records, 0), coalesce(t.quantity, 0))
    order by 1, 2`.execute(db);
  return { records: first(counts, 'count').records, faults: rows };
}
