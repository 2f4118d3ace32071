alter table app_addresses drop constraint app_addresses_sharing_check;
alter table app_addresses add constraint app_addresses_sharing_check
  check (sharing in ('owner', 'project', 'organization', 'public'));

-- A link opens one app without signing in. Only the hash of its secret is kept. Revoking deletes the row; the audit log
-- has the history.
create table app_share_links (
  id uuid primary key,
  organization_id uuid not null references organizations,
  app_instance_id uuid not null references app_addresses (app_instance_id),
  secret_hash bytea not null unique,
  note text not null default '' check (length(note) <= 100),
  created_by uuid not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  check (expires_at > created_at)
);
create index app_share_links_instance on app_share_links (app_instance_id, id);
create index app_share_links_organization on app_share_links (organization_id);
create index app_share_links_expiry on app_share_links (expires_at);
alter table app_share_links enable row level security;
create policy own on app_share_links to gpuaas_tenant
  using (organization_id = any ((select scope_organizations())::uuid[]));
create policy every on app_share_links for select to gpuaas_gateway using (true);
create policy expired on app_share_links to gpuaas_worker using (expires_at < now());
grant select (id, organization_id, app_instance_id, note, created_by, created_at, expires_at), insert, delete
  on app_share_links to gpuaas_tenant;
grant select (id, app_instance_id, secret_hash, expires_at) on app_share_links to gpuaas_gateway;
grant select (expires_at), delete on app_share_links to gpuaas_worker;
