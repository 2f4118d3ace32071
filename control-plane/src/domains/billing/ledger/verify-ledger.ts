import { sql } from 'kysely';
import type { Db } from '../../../platform/db/database.ts';
import { first } from '../../../platform/present.ts';

export interface LedgerFault {
  transactionId: string;
  what: string;
}

export interface LedgerReport {
  transactions: bigint;
  entries: bigint;
  faults: LedgerFault[];
}

/** Recomputes the ledger without trusting its triggers: a superuser may have disabled them. */
export async function verifyLedger(db: Db): Promise<LedgerReport> {
  const { rows: counts } = await sql<{ transactions: bigint; entries: bigint }>`
    select (select count(*) from ledger_transactions) as transactions, (select count(*) from ledger_entries) as entries
  `.execute(db);
  const { rows } = await sql<{ id: string; what: string }>`
    with sums as (
      select transaction_id as id, count(*) as entries, sum(amount_micros) as total from ledger_entries group by 1
    )
    select coalesce(t.id, s.id) as id, case
        when t.id is null then 'entries without a transaction'
        when s.id is null then 'no entries'
        when s.entries < 2 then 'a single entry'
        else 'entries sum to ' || s.total end as what
    from ledger_transactions t full join sums s on s.id = t.id
    where t.id is null or s.id is null or s.entries < 2 or s.total <> 0
    union all
    select t.id, 'an entry of another tenant or currency' from ledger_transactions t
    join ledger_entries e on e.transaction_id = t.id
    where (e.organization_id, e.currency) is distinct from (t.organization_id, t.currency)
    union all
    select t.id, 'corrects an entry that this tenant does not have' from ledger_transactions t
    where t.metadata ? 'corrects_entry_id' and not exists (
      select from ledger_entries e
      where e.id = (t.metadata ->> 'corrects_entry_id')::uuid and e.organization_id = t.organization_id)
    union all
    select t.id, 'posted twice' from ledger_transactions t
    where exists (select from ledger_transactions o
      where o.organization_id = t.organization_id and o.posting_key = t.posting_key and o.id < t.id)
    order by 1, 2`.execute(db);
  return { ...first(counts, 'count'), faults: rows.map(({ id, what }) => ({ transactionId: id, what })) };
}
