-- What terminals showed, where a tenant's policy wants it kept. The content is sealed with the platform key.
create table terminal_recordings (
  id uuid primary key,
  organization_id uuid not null references organizations,
  project_id uuid not null,
  allocation_id uuid not null references allocations,
  -- A user or a service account.
  actor_id uuid not null,
  started_at timestamptz not null,
  -- Null while it runs, and when its gateway died.
  ended_at timestamptz,
  bytes bigint not null default 0,
  -- It grew past what is kept of one.
  truncated boolean not null default false,
  foreign key (organization_id, project_id) references projects (organization_id, id)
);
create index terminal_recordings_allocation on terminal_recordings (allocation_id, id desc);
create index terminal_recordings_started on terminal_recordings (started_at);
create index terminal_recordings_project on terminal_recordings (organization_id, project_id);

create table terminal_recording_parts (
  recording_id uuid not null references terminal_recordings on delete cascade,
  part integer not null check (part >= 0),
  sealed bytea not null,
  primary key (recording_id, part)
);

grant select on terminal_recordings, terminal_recording_parts to gpuaas_tenant;
grant select (id), insert, update (ended_at, bytes, truncated) on terminal_recordings to gpuaas_gateway;
grant insert on terminal_recording_parts to gpuaas_gateway;
grant select (started_at), delete on terminal_recordings to gpuaas_worker;

alter table terminal_recordings enable row level security;
create policy own on terminal_recordings for select to gpuaas_tenant
  using (organization_id = any ((select scope_organizations())::uuid[]));
create policy every on terminal_recordings to gpuaas_gateway, gpuaas_worker using (true);
alter table terminal_recording_parts enable row level security;
create policy own on terminal_recording_parts for select to gpuaas_tenant
  using (exists (select from terminal_recordings r where r.id = recording_id));
create policy every on terminal_recording_parts for insert to gpuaas_gateway with check (true);
