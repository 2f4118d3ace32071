-- How a tenant stands with its money: what policies have done about it, so that they do each thing once.

create table billing_standings (
  organization_id uuid not null references organizations,
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  standing text not null check (standing in ('good', 'low', 'exhausted', 'stopped')),
  since timestamptz not null,
  -- When leases are released unless money comes.
  stops_at timestamptz,
  primary key (organization_id, currency),
  check ((standing = 'exhausted') = (stops_at is not null))
);

grant select on billing_standings to gpuaas_tenant, gpuaas_operator;
grant select, insert, update on billing_standings to gpuaas_worker;

alter table billing_standings enable row level security;
create policy own on billing_standings for select to gpuaas_tenant
  using (organization_id = any ((select scope_organizations())::uuid[]));
create policy every on billing_standings to gpuaas_operator, gpuaas_worker using (true);

-- When a lease's host was last heard of: all that a tenant's accrual needs to know of the host.
create function lease_heard_at(lease_id uuid) returns timestamptz
  language sql stable security definer set search_path = pg_catalog, public, pg_temp
  return (select n.last_heartbeat_at from allocations a join nodes n on n.id = a.node_id where a.id = lease_id);
revoke execute on function lease_heard_at(uuid) from public;
grant execute on function lease_heard_at(uuid) to gpuaas_tenant, gpuaas_operator, gpuaas_worker;
