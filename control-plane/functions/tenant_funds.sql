-- Funds of a tenant by currency: its balance, the rate of its running leases, and what those have accrued
-- since their last debits. A lease that is ending no longer spends.
create or replace function tenant_funds(tenant uuid, at timestamp with time zone)
 RETURNS TABLE(currency text, balance_micros bigint, per_hour_micros bigint, accrued_micros bigint, paid boolean)
 LANGUAGE sql
 STABLE
AS $function$
  select coalesce(r.currency, b.currency), coalesce(b.micros, 0), coalesce(r.rate, 0)::bigint,
    coalesce(r.accrued, 0)::bigint,
    exists (select from ledger_transactions t where t.organization_id = tenant and t.kind in ('payment', 'credit'))
  from (
    select m.currency, sum(m.per_hour_micros) filter (where a.release_requested_at is null) as rate,
      sum(div(m.per_hour_micros::numeric * greatest(0, floor(extract(epoch from
        least(at, coalesce(a.release_requested_at, at)) - m.started_at)) - m.metered_seconds), 3600)) as accrued
    from allocation_meters m join allocations a on a.id = m.allocation_id
    where m.organization_id = tenant and m.ended_at is null
    group by 1
  ) as r full join (select b.currency, b.micros from balance_snapshots b where b.organization_id = tenant) as b
    on b.currency = r.currency
$function$;
