-- Secrets that a project's app instances get at their start, sealed with the platform key.
create table project_secrets (
  id uuid primary key,
  organization_id uuid not null references organizations,
  project_id uuid not null,
  name text not null check (name ~ '^[A-Z][A-Z0-9_]{0,63}$'),
  version integer not null default 1 check (version > 0),
  -- A user or a service account, and its name at that time.
  set_by uuid not null,
  set_by_name text not null,
  created_at timestamptz not null default now(),
  set_at timestamptz not null default now(),
  sealed_value bytea not null,
  unique (project_id, name),
  foreign key (organization_id, project_id) references projects (organization_id, id)
);
create index project_secrets_project on project_secrets (organization_id, project_id);

-- People set values and never read one.
grant select (id, organization_id, project_id, name, version, set_by, set_by_name, created_at, set_at),
  insert, delete, update (sealed_value, version, set_by, set_by_name, set_at)
  on project_secrets to gpuaas_tenant;
alter table project_secrets enable row level security;
create policy own on project_secrets to gpuaas_tenant
  using (organization_id = any ((select scope_organizations())::uuid[]));

-- The one role that opens values, for the runtime. To move the right to another role, revoke this grant, drop the policy,
-- and write both for that role; no code names it.
grant select (id, project_id, name, sealed_value) on project_secrets to gpuaas_worker;
create policy opened on project_secrets for select to gpuaas_worker using (true);
