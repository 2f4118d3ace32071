create or replace function require_known_node() returns trigger language plpgsql
  security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  if not exists (select from nodes n where n.id = new.node_id) then
    raise exception 'an allocation names a node that does not exist' using errcode = 'foreign_key_violation';
  end if;
  return null;
end $$;
