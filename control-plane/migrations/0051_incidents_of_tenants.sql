-- A tenant sees the open incidents of its leases and of the hosts they run on; their details stay with operators.
alter table incidents enable row level security;
create policy every on incidents to gpuaas_operator, gpuaas_worker using (true);
create policy touching on incidents for select to gpuaas_tenant
  using (resolved_at is null and exists (select from allocations a
    where a.id = case incidents.target_type when 'allocation' then incidents.target_id::uuid end
      or a.state = 'active' and a.node_id = case incidents.target_type when 'node' then incidents.target_id::uuid end));
grant select (id, type, severity, target_type, target_id, opened_at, acknowledged_at, resolved_at) on incidents
  to gpuaas_tenant;
