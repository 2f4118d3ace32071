create or replace function require_balanced_transaction() returns trigger language plpgsql
  security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  if not exists (select from ledger_entries where transaction_id = new.id) then
    raise exception 'ledger transaction % has 0 entries that sum to 0', new.id using errcode = 'check_violation';
  end if;
  return null;
end $$;
