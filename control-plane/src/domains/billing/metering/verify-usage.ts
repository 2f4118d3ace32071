import { sql } from 'kysely';
import type { Db } from '../../../platform/db/database.ts';
import { first } from '../../../platform/present.ts';

/** A fault in the books, with its subject. */
export interface AccountingFault {
  about: string;
  what: string;
}

/** Compares stored balances with the sums of the ledger. */
export async function verifySnapshots(db: Db): Promise<AccountingFault[]> {
  const { rows } = await sql<AccountingFault>`
    with sums as (
      select organization_id, currency, sum(amount_micros) as micros from ledger_entries
      where account = 'tenant_balance' group by 1, 2
    )
    select 'balance of ' || coalesce(s.organization_id, b.organization_id) as about,
      'is kept as ' || coalesce(b.micros::text, 'nothing') || ' and adds up to ' || coalesce(s.micros::text, 'nothing')
        || ' ' || coalesce(s.currency, b.currency) as what
    from sums s full join balance_snapshots b on b.organization_id = s.organization_id and b.currency = s.currency
    where s.micros is distinct from b.micros
    order by 1`.execute(db);
  return rows;
}

/** Checks that each second is recorded once, each record debited once, each debit explained by seconds × quote. */
export async function verifyUsage(db: Db): Promise<{ records: bigint; faults: AccountingFault[] }> {
  const { rows: counts } = await sql<{ records: bigint }>`
    select count(*) as records from usage_records`.execute(db);
  const { rows } = await sql<AccountingFault>`
    with ordered as (
      select u.*,
        coalesce(sum(billed_seconds) over before, 0) as billed_so_far,
        coalesce(max(to_second) over before, 0) as metered_so_far,
        row_number() over (partition by allocation_id order by sequence) as place
      from usage_records u
      window before as (partition by allocation_id order by sequence rows between unbounded preceding and 1 preceding)
    ), totals as (
      select allocation_id, count(*) as records, max(to_second) as metered, sum(billed_seconds) as billed,
        sum(amount_micros) as micros from usage_records group by 1
    )
    select 'usage ' || id as about, case
        when sequence <> place then 'is not the next record of its lease'
        when from_second <> metered_so_far then 'leaves a gap or overlaps'
        when billed_before <> billed_so_far then 'counts from ' || billed_before || ' s instead of ' || billed_so_far
        else 'costs ' || amount_micros || ' which is not its seconds at its quote' end as what
    from ordered
    where sequence <> place or from_second <> metered_so_far or billed_before <> billed_so_far
      or amount_micros <> div(per_hour_micros::numeric * (billed_before + billed_seconds), 3600)
        - div(per_hour_micros::numeric * billed_before, 3600)
    union all
    select 'usage ' || u.id, 'was not agreed: the lease was quoted ' || a.per_gpu_hour_micros * a.gpu_count || ' '
      || a.currency || ' an hour'
    from usage_records u join allocations a on a.id = u.allocation_id
    where (u.per_hour_micros, u.currency) is distinct from (a.per_gpu_hour_micros * a.gpu_count, a.currency)
    union all
    select 'usage ' || u.id, 'is debited ' || count(e.id) || ' times, by ' || coalesce(-sum(e.amount_micros), 0)
    from usage_records u
      left join ledger_transactions t on t.id = u.ledger_transaction_id
        and t.posting_key = 'usage:' || u.id and t.kind in ('usage', 'usage_correction')
      left join ledger_entries e on e.transaction_id = t.id and e.account = 'tenant_balance'
    group by u.id, u.amount_micros
    having coalesce(-sum(e.amount_micros), 0) <> u.amount_micros or count(e.id) <> (u.amount_micros <> 0)::integer
    union all
    select 'debit ' || t.id, 'has no usage record' from ledger_transactions t
    where t.kind in ('usage', 'usage_correction')
      and not exists (select from usage_records u where u.ledger_transaction_id = t.id)
    union all
    select 'meter of ' || m.allocation_id, 'does not say what its records say' from allocation_meters m
      left join totals t on t.allocation_id = m.allocation_id
    where (m.records, m.metered_seconds, m.billed_seconds, m.billed_micros)
      is distinct from (coalesce(t.records, 0), coalesce(t.metered, 0), coalesce(t.billed, 0), coalesce(t.micros, 0))
    order by 1, 2`.execute(db);
  return { records: first(counts, 'count').records, faults: rows };
}
