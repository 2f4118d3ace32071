-- How much of the fleet is sold and used over time, and which leases are paid for and idle.

create table utilisation_samples (
  taken_at timestamptz not null,
  region text not null,
  gpu_model text not null,
  -- Slots that may be sold, those held by leases, and those that are free.
  approved integer not null check (approved > 0),
  sold integer not null,
  available integer not null,
  -- Of sold GPUs whose use the host can see: how many, and how busy they are together.
  seen integer not null,
  busy_percent_sum integer not null,
  primary key (taken_at, region, gpu_model)
);

-- What hosts have shown of a lease's GPUs.
create table allocation_idleness (
  allocation_id uuid primary key references allocations,
  organization_id uuid not null references organizations,
  seen_at timestamptz not null,
  -- Null while it is busy.
  idle_since timestamptz,
  -- Of times before that are over.
  idle_seconds bigint not null default 0 check (idle_seconds >= 0),
  -- When its owner was told of this time.
  noticed_at timestamptz
);
create index allocation_idleness_of_tenant on allocation_idleness (organization_id, allocation_id);
create index allocation_idleness_now on allocation_idleness (allocation_id)
  where idle_since is not null and noticed_at is null;

grant select on utilisation_samples to gpuaas_operator;
grant select, insert, delete on utilisation_samples to gpuaas_worker;
grant select on allocation_idleness to gpuaas_tenant, gpuaas_operator;
grant select, insert, update on allocation_idleness to gpuaas_worker;

alter table allocation_idleness enable row level security;
create policy own on allocation_idleness for select to gpuaas_tenant
  using (organization_id = any ((select scope_organizations())::uuid[]));
create policy every on allocation_idleness to gpuaas_operator, gpuaas_worker using (true);
