-- A lease may have an end, known when it is sold. Placement keeps leases that end together on one node, so it must
-- see the live claims of all tenants, but neither whose they are nor what was sold.

alter table allocations
  add column ends_at timestamptz,
  add constraint allocations_end_after_start check (ends_at > created_at);
create index allocations_ending on allocations (ends_at) where desired_state = 'active' and ends_at is not null;

alter table allocation_resource_claims add column ends_at timestamptz;
create index allocation_resource_claims_live on allocation_resource_claims (node_id) where released_at is null;

grant select (allocation_id, node_id, slot_id, ends_at, released_at) on allocation_resource_claims to gpuaas_placement;
create policy live on allocation_resource_claims for select to gpuaas_placement using (released_at is null);
