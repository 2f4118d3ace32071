create or replace function forget_user_data() returns trigger language plpgsql
  security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  delete from allocation_user_data where allocation_id = new.id;
  return null;
end $$;
