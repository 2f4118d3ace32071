-- Allocations that are bound to a node by name alone, from before there were claims, get a claim on the whole node: claims
-- are what placement and quotas read. An allocation without a shape is a baremetal one, by the column's default.
create or replace function claim_bound_nodes() returns bigint language plpgsql set search_path = pg_catalog, public, pg_temp as $$
declare
  made bigint;
begin
  insert into allocation_resource_claims (id, allocation_id, node_id, claim_kind, ends_at, snapshot)
    select gen_random_uuid(), a.id, a.node_id, 'node_exclusive', a.ends_at, jsonb_build_object('bound_node', a.node_id)
    from allocations a
    where a.capacity_shape = 'baremetal' and a.node_id is not null
      and a.state in ('reserved', 'provisioning', 'active', 'releasing', 'release_failed')
      and not exists (select from allocation_resource_claims c where c.allocation_id = a.id)
      and not exists (select from claim_cells o where o.node_id = a.node_id)
    order by a.created_at, a.id;
  get diagnostics made = row_count;
  return made;
end $$;
