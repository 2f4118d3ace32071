create or replace function note_slot_facts() returns trigger language plpgsql
  security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  insert into placement_changes (node_id) values (new.node_id) on conflict (xid, node_id) do update set facts = true;
  return null;
end $$;
