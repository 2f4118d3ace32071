import { sql } from 'kysely';
import type { Db } from '../../platform/db/database.ts';
import type { AccountingFault } from '../billing/metering/verify-usage.ts';
import { first } from '../../platform/present.ts';

/**
 * Verifies that each payment, refund and dispute is in the ledger once with its amount, and nothing else of
 * these kinds is.
 */
export async function verifyPayments(db: Db): Promise<{ payments: bigint; faults: AccountingFault[] }> {
  const { rows: counts } = await sql<{ payments: bigint }>`
    select count(*) as payments from payments`.execute(db);
  const { rows } = await sql<AccountingFault>`
    with moved as (
      select 'payment ' || id as about, organization_id, currency, ledger_transaction_id as transaction_id,
        'payment' as kind, received_micros as paid, tax_basis_points
      from payments where state = 'succeeded'
      union all
      select 'refund ' || r.id, r.organization_id, p.currency, moves.transaction_id, 'refund', moves.gain, p.tax_basis_points
      from payment_refunds r join payments p on p.id = r.payment_id
        cross join lateral (values (r.ledger_transaction_id, -r.amount_micros),
          (r.returned_transaction_id, r.amount_micros)) as moves (transaction_id, gain)
      where moves.transaction_id is not null
      union all
      select 'dispute ' || d.id, d.organization_id, p.currency, moves.transaction_id, 'dispute', moves.gain, p.tax_basis_points
      from payment_disputes d join payments p on p.id = d.payment_id
        cross join lateral (values (d.withdrawn_transaction_id, -d.amount_micros),
          (d.returned_transaction_id, d.amount_micros)) as moves (transaction_id, gain)
      where moves.transaction_id is not null
    ), posted as (
      select t.id, t.organization_id, t.currency, t.kind,
        sum(e.amount_micros) filter (where e.account = 'tenant_balance') as gain,
        coalesce(sum(e.amount_micros) filter (where e.account = 'tax'), 0) as tax,
        sum(e.amount_micros) filter (where e.account = 'payments') as outside
      from ledger_transactions t join ledger_entries e on e.transaction_id = t.id
      where t.kind in ('payment', 'refund', 'dispute') group by t.id
    )
    select m.about, 'should have moved ' || m.paid || ' ' || m.currency || ' with ' || m.tax || ' of tax, and moved '
      || coalesce(p.gain::text || ' with ' || p.tax, 'nothing') as what
    from (select *, trunc(paid::numeric * tax_basis_points / (10000 + tax_basis_points)) as tax from moved) m left join posted p on p.id = m.transaction_id and p.kind = m.kind
      and p.organization_id = m.organization_id and p.currency = m.currency
    where (m.paid - m.tax, m.tax, -m.paid) is distinct from (p.gain, p.tax, p.outside)
    union all
    select p.kind || ' ' || p.id, 'is in the ledger ' || case count(m.transaction_id) when 0 then 'without a cause'
      else 'for ' || count(m.transaction_id) || ' causes' end
    from posted p left join moved m on m.transaction_id = p.id
    group by p.kind, p.id having count(m.transaction_id) <> 1
    union all
    select 'payment ' || p.id, 'was refunded more than it received' from payments p
    where p.state = 'succeeded' and p.received_micros < (select coalesce(sum(amount_micros), 0) from payment_refunds r
      where r.payment_id = p.id and r.state <> 'failed')
    order by 1, 2`.execute(db);
  return { payments: first(counts, 'count').payments, faults: rows };
}
