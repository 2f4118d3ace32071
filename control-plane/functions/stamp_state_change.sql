create or replace function stamp_state_change() returns trigger language plpgsql as $$
begin
  new.state_changed_at := now();
  return new;
end $$;
