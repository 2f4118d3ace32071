-- Which nodes placement must read again. Every process keeps the fleet in memory and asks before each decision what
-- has become visible since its last look (domains/fleet/fleet-index.ts); whoever changes a row, by whatever way, is
-- noted here in the same transaction. See docs/decisions/0005-reservation.md.
create table placement_changes (
  xid xid8 not null default pg_current_xact_id(),
  node_id uuid not null,
  changed_at timestamptz not null default now(),
  primary key (xid, node_id)
);

create function note_placement_changes() returns trigger language plpgsql
  security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  insert into placement_changes (node_id) select distinct node_id from changed on conflict do nothing;
  return null;
end $$;

create function note_placement_change() returns trigger language plpgsql
  security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  insert into placement_changes (node_id) values (new.id) on conflict do nothing;
  return null;
end $$;

create trigger nodes_tell_placement after insert on nodes for each row execute function note_placement_change();
-- Heartbeats are the rule, and what they say of reachability placement looks up by time.
create trigger node_changes_tell_placement after update on nodes for each row
  when ((old.region, old.mode, old.draining) is distinct from (new.region, new.mode, new.draining))
  execute function note_placement_change();
create trigger slots_tell_placement after insert on node_resource_slots
  referencing new table as changed for each statement execute function note_placement_changes();
create trigger slot_changes_tell_placement after update on node_resource_slots
  referencing new table as changed for each statement execute function note_placement_changes();
create trigger claims_tell_placement after insert on allocation_resource_claims
  referencing new table as changed for each statement execute function note_placement_changes();
create trigger claim_changes_tell_placement after update on allocation_resource_claims
  referencing new table as changed for each statement execute function note_placement_changes();
create trigger cordons_tell_placement after insert on node_cordons
  referencing new table as changed for each statement execute function note_placement_changes();
create trigger lifted_cordons_tell_placement after delete on node_cordons
  referencing old table as changed for each statement execute function note_placement_changes();

grant select on placement_changes to gpuaas_placement;
grant select, delete on placement_changes to gpuaas_worker;
-- Placement holds the rows of nodes that it sells on, so that a drain or a new mode waits for it. PostgreSQL asks for
-- the right to update something for that; this column is never written.
grant update (enrolled_at) on nodes to gpuaas_placement;
-- A sale is written under one role, whether one or many commit together.
grant select, insert on allocations to gpuaas_placement;
create policy own_events on outbox_events for insert to gpuaas_placement
  with check (organization_id = any ((select scope_organizations())::uuid[]));
grant select (workflow_id), insert on workflow_starts to gpuaas_placement;
