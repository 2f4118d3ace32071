-- Whole nodes kept for a project and a time.
create table capacity_reservations (
  id uuid primary key,
  organization_id uuid not null references organizations,
  project_id uuid not null,
  sku text not null references sku_catalog,
  region text not null references regions,
  node_count integer not null check (node_count > 0),
  starts_at timestamptz not null,
  ends_at timestamptz not null,
  reason text not null,
  created_by uuid not null references users,
  created_at timestamptz not null default now(),
  cancelled_at timestamptz,
  foreign key (organization_id, project_id) references projects (organization_id, id),
  check (ends_at > starts_at)
);
create index capacity_reservations_project on capacity_reservations (project_id, id desc);

alter table node_promises add reservation_id uuid references capacity_reservations;
create index node_promises_reservation on node_promises (reservation_id) where reservation_id is not null;

alter table capacity_reservations enable row level security;
create policy own on capacity_reservations to gpuaas_tenant
  using (organization_id = any ((select scope_organizations())::uuid[]));
create policy every on capacity_reservations to gpuaas_operator, gpuaas_worker using (true);
grant select, insert, update (cancelled_at) on capacity_reservations to gpuaas_tenant, gpuaas_operator;
grant select on capacity_reservations to gpuaas_worker;
