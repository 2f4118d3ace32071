-- A launch in line is sold by the same rules as a new one: the worker that starts it asks whether its tenant may buy it.
grant select on sku_entitlements to gpuaas_worker;
create policy every_read on sku_entitlements for select to gpuaas_worker using (true);

-- What the tenant was told of a machine that its host does not run; null while it runs.
alter table allocations add machine_trouble text check (machine_trouble in ('stopped', 'lost'));
