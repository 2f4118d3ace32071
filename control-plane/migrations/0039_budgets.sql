-- What a tenant allows itself to spend in a month: all of it, a project, a team or a user.

create table budgets (
  id uuid primary key,
  organization_id uuid not null references organizations,
  scope_type text not null check (scope_type in ('tenant', 'project', 'team', 'user')),
  scope_id uuid not null,
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  monthly_micros bigint not null check (monthly_micros > 0),
  -- Percentages at which people are told.
  thresholds smallint[] not null check (cardinality(thresholds) <= 10 and 1 <= all (thresholds) and 1000 >= all (thresholds)),
  -- What happens at a hundred percent, besides telling.
  at_cap text not null check (at_cap in ('notify', 'refuse', 'release')),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (organization_id, scope_type, scope_id, currency)
);

-- Each threshold is told once in a month.
create table budget_notices (
  budget_id uuid not null references budgets on delete cascade,
  month date not null,
  percent smallint not null,
  spent_micros bigint not null,
  noticed_at timestamptz not null,
  primary key (budget_id, month, percent)
);

create index usage_records_of_month on usage_records (organization_id, window_from);

grant select, insert, update, delete on budgets to gpuaas_tenant;
grant select on budgets to gpuaas_operator, gpuaas_worker;
grant select, insert on budget_notices to gpuaas_worker;
grant select on budget_notices to gpuaas_tenant, gpuaas_operator;
grant select on team_members to gpuaas_worker;

alter table budgets enable row level security;
create policy own on budgets to gpuaas_tenant
  using (organization_id = any ((select scope_organizations())::uuid[]));
create policy every on budgets for select to gpuaas_operator, gpuaas_worker using (true);

alter table budget_notices enable row level security;
create policy own on budget_notices for select to gpuaas_tenant
  using (exists (select from budgets b where b.id = budget_id));
create policy every on budget_notices to gpuaas_operator, gpuaas_worker using (true);

create policy every_read on team_members for select to gpuaas_worker using (true);
