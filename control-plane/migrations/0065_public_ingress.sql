-- Ports of public addresses that lead to machines. An address and port belongs to one machine until the host is seen to
-- lead it there no longer: that it is no longer wanted is not enough.
create table public_ingresses (
  id uuid primary key,
  organization_id uuid not null references organizations,
  project_id uuid not null,
  allocation_id uuid not null references allocations,
  node_id uuid not null references nodes,
  protocol text not null check (protocol in ('tcp', 'udp')),
  public_address text not null,
  public_port integer not null check (public_port between 1 and 65535),
  -- SSH from outside goes through the platform.
  machine_port integer not null check (machine_port between 1 and 65535 and machine_port <> 22),
  state text not null default 'attaching' check (state in ('attaching', 'attached', 'detaching', 'detached')),
  -- The task that was to bring it to what is wanted; null before the first.
  task_id uuid references node_tasks,
  -- Tasks in a row that failed.
  failures integer not null default 0,
  failure text,
  created_by uuid not null,
  created_at timestamptz not null default now(),
  attached_at timestamptz,
  detached_at timestamptz,
  foreign key (organization_id, project_id) references projects (organization_id, id),
  check ((state = 'detached') = (detached_at is not null))
);
create unique index public_ingresses_port on public_ingresses (public_address, protocol, public_port)
  where state <> 'detached';
create index public_ingresses_allocation on public_ingresses (allocation_id, id);
create index public_ingresses_live on public_ingresses (state, allocation_id) where state <> 'detached';
create index public_ingresses_project on public_ingresses (organization_id, project_id);
create index public_ingresses_node on public_ingresses (node_id);
create index public_ingresses_task on public_ingresses (task_id);

grant select on public_ingresses to gpuaas_tenant, gpuaas_operator;
grant select, insert, update (state, task_id, failures, failure, attached_at, detached_at) on public_ingresses to gpuaas_worker;

alter table public_ingresses enable row level security;
create policy own on public_ingresses for select to gpuaas_tenant
  using (organization_id = any ((select scope_organizations())::uuid[]));
create policy every on public_ingresses to gpuaas_operator, gpuaas_worker using (true);
