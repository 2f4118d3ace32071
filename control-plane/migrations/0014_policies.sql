-- Business values that differ from the defaults of contracts/policies.yaml, and how they came to be. The registry says
-- what a value may be; a value that it no longer allows is passed over when it is read.
create table policy_values (
  key text not null check (length(key) between 1 and 100),
  organization_id uuid references organizations on delete cascade,
  project_id uuid,
  value jsonb not null,
  changed_at timestamptz not null default now(),
  foreign key (organization_id, project_id) references projects (organization_id, id) on delete cascade,
  check (project_id is null or organization_id is not null),
  unique nulls not distinct (key, organization_id, project_id)
);
create index policy_values_tenant on policy_values (organization_id, project_id);

-- Every process keeps all values in memory and reads them again when told.
create function tell_policies_changed() returns trigger language plpgsql as $$
begin
  perform pg_notify('gpuaas_policies', '');
  return null;
end $$;
create trigger policy_values_changed after insert or update or delete on policy_values
  for each statement execute function tell_policies_changed();

-- No reference to the tenant: the history stays when the tenant is gone.
create table policy_changes (
  id uuid primary key,
  key text not null,
  organization_id uuid,
  project_id uuid,
  before jsonb,
  after jsonb,
  actor_id uuid not null,
  actor_role text not null,
  reason text not null default '' check (length(reason) <= 500),
  correlation_id uuid not null,
  changed_at timestamptz not null default now()
);
create index policy_changes_key on policy_changes (key, id);
create trigger policy_changes_append_only before update or delete or truncate on policy_changes
  for each statement execute function forbid_change();

grant select, insert, update (value, changed_at), delete on policy_values to gpuaas_tenant, gpuaas_operator;
grant select on policy_values to gpuaas_worker;
grant select, insert on policy_changes to gpuaas_tenant, gpuaas_operator;

alter table policy_values enable row level security;
create policy own on policy_values to gpuaas_tenant
  using (organization_id = any ((select scope_organizations())::uuid[]));
create policy every on policy_values to gpuaas_operator using (true);
create policy every_read on policy_values for select to gpuaas_worker using (true);

alter table policy_changes enable row level security;
create policy own on policy_changes to gpuaas_tenant
  using (organization_id = any ((select scope_organizations())::uuid[]));
create policy every on policy_changes to gpuaas_operator using (true);
