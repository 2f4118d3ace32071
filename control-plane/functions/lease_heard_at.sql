-- Last heartbeat of a lease's host: the only fact of the host that a tenant's accrual needs.
create or replace function lease_heard_at(lease_id uuid) returns timestamptz
  language sql stable security definer set search_path = pg_catalog, public, pg_temp
  return (select n.last_heartbeat_at from allocations a join nodes n on n.id = a.node_id where a.id = lease_id);
