-- plan: by index
-- A slot of another node yields no cell, so the count of cells is too low.
create or replace function take_claim_cells() returns trigger language plpgsql
  security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  due bigint;
  taken bigint;
begin
  insert into claim_cells (node_id, cell, claim_id)
    select c.node_id, s.slot_index, c.id
      from changed c join node_resource_slots s on s.id = c.slot_id
      where c.released_at is null and s.node_id = c.node_id
    union all
    select c.node_id, cell, c.id from changed c, generate_series(0, 15) as cell
      where c.released_at is null and c.claim_kind = 'node_exclusive'
    order by 1, 2;
  get diagnostics taken = row_count;
  select coalesce(sum(case when c.slot_id is null then 16 else 1 end), 0) into due
    from changed c where c.released_at is null;
  if taken <> due or exists (
    select from (select distinct allocation_id, node_id from changed) c where
      (select a.id from allocations a where a.id = c.allocation_id) is null
      or (select n.id from nodes n where n.id = c.node_id) is null
  ) or exists (
    select from changed c where c.released_at is not null and c.slot_id is not null
      and (select s.node_id from node_resource_slots s where s.id = c.slot_id) is distinct from c.node_id
  ) then
    raise exception 'claim names a slot of another node, or what does not exist' using errcode = 'foreign_key_violation';
  end if;
  return null;
end $$;
