-- plan: by index
create or replace function require_wiped_slots() returns trigger language plpgsql
  security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  if exists (select from (select distinct slot_id from written) w
      where (select s.id from node_resource_slots s where s.id = w.slot_id) is null) then
    raise exception 'a wipe names a slot that does not exist' using errcode = 'foreign_key_violation';
  end if;
  return null;
end $$;
