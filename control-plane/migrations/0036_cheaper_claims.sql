-- The same invariants for less: claims are written many at a time, and what is checked row by row is most of their cost.

-- Cells are written by this trigger alone, from claims whose node and slot were checked, and go with them.
alter table claim_cells drop constraint claim_cells_claim_id_fkey, drop constraint claim_cells_node_id_fkey;
-- They are found by their node, which has sixteen at most.
drop index claim_cells_claim;

drop trigger claims_occupy_cells on allocation_resource_claims;
drop function occupy_claim_cells();

create function take_claim_cells() returns trigger language plpgsql
  security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  insert into claim_cells (node_id, cell, claim_id)
    select c.node_id, s.slot_index, c.id
      from changed c join node_resource_slots s on s.id = c.slot_id and s.node_id = c.node_id
      where c.released_at is null
    union all
    select c.node_id, cell, c.id from changed c, generate_series(0, 15) as cell
      where c.released_at is null and c.claim_kind = 'node_exclusive'
    order by 1, 2;
  if exists (select from changed c where c.slot_id is not null and not exists (
      select from node_resource_slots s where s.id = c.slot_id and s.node_id = c.node_id)) then
    raise exception 'claim names a slot of another node' using errcode = 'foreign_key_violation';
  end if;
  return null;
end $$;
create trigger claims_take_cells after insert on allocation_resource_claims
  referencing new table as changed for each statement execute function take_claim_cells();

create function vacate_claim_cells() returns trigger language plpgsql
  security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  delete from claim_cells e using changed c
    where c.released_at is not null and e.node_id = c.node_id and e.claim_id = c.id;
  return null;
end $$;
create trigger ended_claims_vacate_cells after update on allocation_resource_claims
  referencing new table as changed for each statement execute function vacate_claim_cells();

create function refuse_claim_change() returns trigger language plpgsql as $$
begin
  raise exception 'a claim is a snapshot; only its end and its release may be recorded' using errcode = 'restrict_violation';
end $$;
create trigger claims_are_snapshots before update on allocation_resource_claims for each row
  when (old.released_at is not null
    or (old.id, old.allocation_id, old.node_id, old.claim_kind, old.slot_id, old.snapshot, old.created_at)
      is distinct from
      (new.id, new.allocation_id, new.node_id, new.claim_kind, new.slot_id, new.snapshot, new.created_at))
  execute function refuse_claim_change();

-- A slot changes its state with every lease. Without an index on the state, and with room on the page, that touches no
-- index; placement finds free slots in memory.
drop index node_resource_slots_available;
alter table node_resource_slots set (fillfactor = 70);

-- Said by the reference of organization and project together.
alter table allocations drop constraint allocations_organization_id_fkey;
