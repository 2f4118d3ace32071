-- A ticket signs one browser in to one app, once. Only its hash is kept.
create table app_tickets (
  ticket_hash bytea primary key,
  organization_id uuid not null references organizations,
  label text not null,
  user_id uuid not null,
  credential jsonb not null,
  -- Hash of the nonce that only the browser has.
  attempt text not null check (length(attempt) = 43),
  expires_at timestamptz not null
);
create index app_tickets_expiry on app_tickets (expires_at);
alter table app_tickets enable row level security;
create policy every on app_tickets to gpuaas_gateway using (true);
create policy expired on app_tickets to gpuaas_worker using (expires_at < now());
grant select, insert, delete on app_tickets to gpuaas_gateway;
grant select (expires_at), delete on app_tickets to gpuaas_worker;

-- Where an app instance is served. A label is never deleted and never given to another instance: cookies, service
-- workers and bookmarks of its origin outlive the instance, and so does this row.
create table app_addresses (
  label text primary key check (label ~ '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$'),
  app_instance_id uuid not null unique,
  organization_id uuid not null references organizations,
  project_id uuid not null references projects,
  sharing text not null default 'owner' check (sharing in ('owner', 'project')),
  created_at timestamptz not null default now()
);
create index app_addresses_organization on app_addresses (organization_id);
create trigger app_addresses_stay before delete or truncate on app_addresses
  for each statement execute function forbid_change();
alter table app_addresses enable row level security;
create policy own on app_addresses to gpuaas_tenant
  using (organization_id = any ((select scope_organizations())::uuid[]));
create policy every on app_addresses for select to gpuaas_gateway using (true);
grant select, update (sharing) on app_addresses to gpuaas_tenant;
grant select on app_addresses to gpuaas_gateway;

-- The gateway finds the machine and the port of an app; it sees no parameter and no secret.
grant select (id, organization_id, project_id, app_slug, app_version, status, desired, allocation_id, created_by)
  on app_instances to gpuaas_gateway;
grant select (slug, version, runtime_profile, cors_origins) on app_manifest_versions to gpuaas_gateway;
grant select (id, instance_id) on app_instance_members to gpuaas_gateway;
grant select (allocation_id, port, member_id) on app_member_ports to gpuaas_gateway;
create policy served on app_instances for select to gpuaas_gateway using (true);
create policy served on app_instance_members for select to gpuaas_gateway using (true);
create policy served on app_member_ports for select to gpuaas_gateway using (true);

-- Answered requests, as a gateway counted them. It writes a row about once a second, so that a killed gateway loses
-- one second of counts at most; a row is billed once, under its own id.
create table app_request_counts (
  id uuid primary key,
  app_instance_id uuid not null,
  organization_id uuid not null references organizations,
  project_id uuid not null references projects,
  allocation_id uuid not null references allocations,
  user_id uuid,
  app text not null,
  requests bigint not null check (requests > 0),
  counted_at timestamptz not null,
  recorded_at timestamptz,
  -- Why billing does not take it.
  refusal text check (length(refusal) <= 300),
  check (refusal is null or recorded_at is null)
);
create index app_request_counts_due on app_request_counts (counted_at) where recorded_at is null;
create index app_request_counts_instance on app_request_counts (app_instance_id);
alter table app_request_counts enable row level security;
create policy own on app_request_counts for select to gpuaas_tenant
  using (organization_id = any ((select scope_organizations())::uuid[]));
create policy every on app_request_counts to gpuaas_gateway, gpuaas_worker using (true);
grant select (id), insert on app_request_counts to gpuaas_gateway;
grant select on app_request_counts to gpuaas_tenant;
grant select, update (recorded_at, refusal), delete on app_request_counts to gpuaas_worker;

alter table app_usage_records add column app_instance_id uuid;
create index app_usage_records_of_instance on app_usage_records (app_instance_id) where app_instance_id is not null;
