-- Prices that were charged must stay readable. Only a price that never took effect can be withdrawn.
create or replace function keep_prices() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' and old.effective_from > clock_timestamp() then
    return old;
  end if;
  raise exception 'a price that took effect is kept as it is' using errcode = 'restrict_violation';
end $$;
