-- plan: by index
create or replace function note_placement_changes() returns trigger language plpgsql
  security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  insert into placement_changes (node_id) select distinct node_id from changed
    on conflict (xid, node_id) do update set facts = true;
  return null;
end $$;
