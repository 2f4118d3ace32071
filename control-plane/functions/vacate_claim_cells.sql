-- plan: by index
create or replace function vacate_claim_cells() returns trigger language plpgsql
  security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  delete from claim_cells e using changed c
    where c.released_at is not null and e.node_id = c.node_id and e.claim_id = c.id;
  return null;
end $$;
