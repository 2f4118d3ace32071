create or replace function add_to_balances() returns trigger language plpgsql
  security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  -- Every transaction takes the accounts in the same order, so that two postings block each other and never
  -- deadlock.
  insert into balance_snapshots as b (organization_id, currency, micros)
    select organization_id, currency, sum(amount_micros) from posted where account = 'tenant_balance'
    group by 1, 2 order by 1, 2
  on conflict (organization_id, currency) do update set micros = b.micros + excluded.micros;
  return null;
end $$;
