create or replace function keep_payment_order() returns trigger language plpgsql
  set search_path = pg_catalog, public, pg_temp as $$
declare
  ways text[] := array['created', 'open', 'processing'];
begin
  if new.state <> old.state and (not old.state = any (ways)
      or array_position(ways, new.state) < array_position(ways, old.state)) then
    raise exception 'a payment that is % does not become %', old.state, new.state using errcode = 'restrict_violation';
  end if;
  if new.tax_basis_points <> old.tax_basis_points then
    raise exception 'the tax of a payment is agreed' using errcode = 'restrict_violation';
  end if;
  return new;
end $$;
