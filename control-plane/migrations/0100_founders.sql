-- Who opened a tenant: how many one person may open is a policy. Tenants from before count for nobody.
alter table organizations add column created_by uuid references users (id);
create index organizations_created_by on organizations (created_by) where deleted_at is null;
grant select (created_by, deleted_at) on organizations to gpuaas_auth;
