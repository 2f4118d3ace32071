-- Who belongs to a tenant, and which rights they hold where. Membership and rights are kept apart: a member without
-- a binding may look around nowhere, and a binding of somebody whose membership is disabled gives nothing.

create table organization_members (
  id uuid primary key,
  organization_id uuid not null references organizations,
  user_id uuid not null references users,
  state text not null default 'active' check (state in ('active', 'disabled')),
  created_at timestamptz not null default now(),
  disabled_at timestamptz,
  unique (organization_id, user_id),
  check ((state = 'disabled') = (disabled_at is not null))
);
create index organization_members_user on organization_members (user_id);

create table teams (
  id uuid primary key,
  organization_id uuid not null references organizations,
  name text not null check (length(name) between 1 and 200),
  description text not null default '' check (length(description) <= 500),
  created_at timestamptz not null default now(),
  unique (organization_id, name),
  unique (organization_id, id)
);

create table team_members (
  team_id uuid not null,
  user_id uuid not null,
  organization_id uuid not null,
  created_at timestamptz not null default now(),
  primary key (team_id, user_id),
  foreign key (organization_id, team_id) references teams (organization_id, id) on delete cascade,
  foreign key (organization_id, user_id) references organization_members (organization_id, user_id) on delete cascade
);
create index team_members_user on team_members (user_id);

-- Groups that a tenant made for itself; the built-in ones are data in contracts/permissions.yaml.
create table permission_groups (
  id uuid primary key,
  organization_id uuid not null references organizations,
  name text not null check (length(name) between 1 and 200),
  description text not null default '' check (length(description) <= 500),
  permissions text[] not null,
  created_at timestamptz not null default now(),
  unique (organization_id, name),
  unique (organization_id, id)
);

create table service_accounts (
  id uuid primary key,
  organization_id uuid not null references organizations,
  project_id uuid not null,
  name text not null check (length(name) between 1 and 200),
  description text not null default '' check (length(description) <= 500),
  -- Null: it belongs to the project, because its owner left.
  owner_user_id uuid references users,
  state text not null default 'active' check (state in ('active', 'disabled')),
  -- A user or a service account.
  created_by uuid not null,
  created_at timestamptz not null default now(),
  unique (project_id, name),
  unique (project_id, id),
  foreign key (organization_id, project_id) references projects (organization_id, id)
);
create index service_accounts_owner on service_accounts (owner_user_id);

create table service_account_tokens (
  id uuid primary key,
  organization_id uuid not null references organizations,
  service_account_id uuid not null references service_accounts on delete cascade,
  prefix text not null,
  secret_hash bytea not null unique,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  revoked_at timestamptz,
  last_used_at timestamptz
);
create index service_account_tokens_account on service_account_tokens (service_account_id);

-- Everybody who has a binding in a tenant is a member of it.
insert into organization_members (id, organization_id, user_id)
select gen_random_uuid(), organization_id, user_id from permission_bindings
where organization_id is not null group by organization_id, user_id;

-- A binding gives one group, built-in or the tenant's own, to one user, team or service account.
alter table permission_bindings
  drop constraint permission_bindings_user_id_permission_group_scope_organiza_key,
  alter column user_id drop not null,
  alter column permission_group drop not null,
  add column permission_group_id uuid,
  add column team_id uuid,
  add column service_account_id uuid,
  add check (num_nonnulls(permission_group, permission_group_id) = 1),
  add check (num_nonnulls(user_id, team_id, service_account_id) = 1),
  -- Teams and groups of a tenant mean nothing outside it.
  add check (scope <> 'platform' or (user_id is not null and permission_group is not null)),
  add check (service_account_id is null or scope = 'project'),
  add unique nulls not distinct
    (user_id, team_id, service_account_id, permission_group, permission_group_id, organization_id, project_id),
  add foreign key (organization_id, user_id) references organization_members (organization_id, user_id)
    on delete cascade,
  add foreign key (organization_id, team_id) references teams (organization_id, id) on delete cascade,
  add foreign key (organization_id, permission_group_id) references permission_groups (organization_id, id),
  add foreign key (project_id, service_account_id) references service_accounts (project_id, id) on delete cascade;
create index permission_bindings_organization on permission_bindings (organization_id, id);
create index permission_bindings_team on permission_bindings (team_id);
create index permission_bindings_service_account on permission_bindings (service_account_id);

-- A key holds rights of one tenant, or, without one, those of its owner on the platform.
alter table api_keys
  add column organization_id uuid references organizations,
  -- Null: everything its owner may do.
  add column scopes text[],
  add column last_used_at timestamptz;
create index api_keys_user on api_keys (user_id, id desc);
create index api_keys_organization on api_keys (organization_id, id desc);
update api_keys k set organization_id = (
  select b.organization_id from permission_bindings b
  where b.user_id = k.user_id and b.organization_id is not null order by b.created_at limit 1)
where not exists (
  select from permission_bindings b where b.user_id = k.user_id and b.scope = 'platform');

-- What was made by a service account has no user behind it; what belonged to somebody who left, the project has.
alter table allocations
  drop constraint allocations_created_by_fkey,
  add column owner_user_id uuid references users;
update allocations set owner_user_id = created_by;
create index allocations_owner on allocations (owner_user_id) where owner_user_id is not null;
alter table webhooks
  drop constraint webhooks_created_by_fkey,
  add column owner_user_id uuid references users;
update webhooks set owner_user_id = created_by;
create index webhooks_owner on webhooks (owner_user_id) where owner_user_id is not null;
alter table terminal_tokens drop constraint terminal_tokens_user_id_fkey;

-- Grants and rows ---------------------------------------------------------------------------------------------

grant select, insert, delete, update (state, disabled_at) on organization_members to gpuaas_tenant;
grant select, insert, delete, update (name, description) on teams to gpuaas_tenant;
grant select, insert, delete on team_members to gpuaas_tenant;
grant select, insert, delete, update (name, description, permissions) on permission_groups to gpuaas_tenant;
grant select, insert, delete on permission_bindings to gpuaas_tenant;
grant select, insert, delete, update (name, description, owner_user_id, state) on service_accounts to gpuaas_tenant;
grant select (id, organization_id, service_account_id, prefix, created_at, expires_at, revoked_at, last_used_at),
  insert, update (expires_at, revoked_at) on service_account_tokens to gpuaas_tenant;
grant select (id, user_id, organization_id, name, prefix, scopes, created_at, expires_at, revoked_at, last_used_at),
  insert, update (revoked_at) on api_keys to gpuaas_tenant;
grant select (id, email, name) on users to gpuaas_tenant;
grant update (owner_user_id) on allocations to gpuaas_tenant;

grant select on organization_members, team_members, permission_groups, service_accounts, service_account_tokens
  to gpuaas_auth;
grant insert on organization_members to gpuaas_auth;
grant update (last_used_at) on api_keys, service_account_tokens to gpuaas_auth;

alter table organization_members enable row level security;
create policy own on organization_members to gpuaas_tenant
  using (organization_id = any ((select scope_organizations())::uuid[]));
create policy every on organization_members to gpuaas_auth using (true);

alter table teams enable row level security;
create policy own on teams to gpuaas_tenant using (organization_id = any ((select scope_organizations())::uuid[]));

alter table team_members enable row level security;
create policy own on team_members to gpuaas_tenant
  using (organization_id = any ((select scope_organizations())::uuid[]));
create policy every on team_members for select to gpuaas_auth using (true);

alter table permission_groups enable row level security;
create policy own on permission_groups to gpuaas_tenant
  using (organization_id = any ((select scope_organizations())::uuid[]));
create policy every on permission_groups for select to gpuaas_auth using (true);

create policy own on permission_bindings to gpuaas_tenant
  using (organization_id = any ((select scope_organizations())::uuid[]));

alter table service_accounts enable row level security;
create policy own on service_accounts to gpuaas_tenant
  using (organization_id = any ((select scope_organizations())::uuid[]));
create policy every on service_accounts for select to gpuaas_auth using (true);

alter table service_account_tokens enable row level security;
create policy own on service_account_tokens to gpuaas_tenant
  using (organization_id = any ((select scope_organizations())::uuid[]));
create policy every on service_account_tokens to gpuaas_auth using (true);

alter table api_keys enable row level security;
create policy own on api_keys to gpuaas_tenant
  using (organization_id = any ((select scope_organizations())::uuid[])
    or (organization_id is null and user_id = (select scope_caller())));
create policy every on api_keys to gpuaas_auth using (true);

-- People are seen by those they share a tenant with.
alter table users enable row level security;
create policy of_own_tenants on users for select to gpuaas_tenant
  using (id = (select scope_caller()) or exists (select from organization_members m where m.user_id = users.id));
create policy every on users to gpuaas_auth using (true);
