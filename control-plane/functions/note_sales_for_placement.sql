-- plan: by index
create or replace function note_sales_for_placement() returns trigger language plpgsql
  security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  insert into placement_changes (node_id, facts) select distinct node_id, false from changed on conflict do nothing;
  return null;
end $$;
