-- Closing tenants and projects, invitations, SSH keys, and what passes from people to projects.

-- Records refer to tenants and projects for ever, so these are closed rather than deleted; nobody sees them then.
alter table organizations add column deleted_at timestamptz;
alter table projects
  add column deleted_at timestamptz,
  drop constraint projects_organization_id_name_key;
create unique index projects_live_name on projects (organization_id, name) where deleted_at is null;

create table invitations (
  id uuid primary key,
  organization_id uuid not null references organizations,
  email text not null check (length(email) between 3 and 320),
  token_hash bytea not null unique,
  -- What whoever accepts it gets: one group, at the tenant or at a project.
  permission_group text,
  permission_group_id uuid,
  project_id uuid,
  invited_by uuid not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  accepted_at timestamptz,
  accepted_by uuid references users,
  revoked_at timestamptz,
  foreign key (organization_id, project_id) references projects (organization_id, id),
  foreign key (organization_id, permission_group_id) references permission_groups (organization_id, id)
    on delete cascade,
  check (num_nonnulls(permission_group, permission_group_id) = 1),
  check ((accepted_at is null) = (accepted_by is null)),
  check (accepted_at is null or revoked_at is null)
);
create index invitations_organization on invitations (organization_id, id desc);
create unique index invitations_pending on invitations (organization_id, lower(email))
  where accepted_at is null and revoked_at is null;

create table ssh_keys (
  id uuid primary key,
  -- Of a person, or of a project.
  user_id uuid references users,
  organization_id uuid references organizations,
  project_id uuid,
  name text not null check (length(name) between 1 and 200),
  type text not null,
  public_key text not null,
  fingerprint text not null,
  created_at timestamptz not null default now(),
  foreign key (organization_id, project_id) references projects (organization_id, id),
  check (num_nonnulls(user_id, project_id) = 1),
  check ((organization_id is null) = (project_id is null)),
  unique (user_id, fingerprint),
  unique (project_id, fingerprint)
);

-- The keys as they were at the launch: deleting one later changes no machine.
alter table allocations add column ssh_authorized_keys text[] not null default '{}';

create table handed_over_resources (
  id uuid primary key,
  organization_id uuid not null references organizations,
  project_id uuid not null,
  user_id uuid not null references users,
  user_email text not null,
  reason text not null check (reason in ('left', 'removed', 'disabled')),
  resource_type text not null,
  resource_id uuid not null,
  resource_name text not null,
  name text not null,
  handed_over_at timestamptz not null default now(),
  foreign key (organization_id, project_id) references projects (organization_id, id)
);
create index handed_over_resources_organization on handed_over_resources (organization_id, id desc);

-- Nothing comes to a project that is being closed: whoever closes it holds its row, and this waits for that.
create function require_live_project() returns trigger
  language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  perform from projects where id = new.project_id and deleted_at is null for key share;
  if not found then
    raise exception 'project % is closed', new.project_id using errcode = 'foreign_key_violation';
  end if;
  return new;
end $$;
create trigger allocations_need_live_project before insert on allocations
  for each row execute function require_live_project();
create trigger webhooks_need_live_project before insert on webhooks
  for each row execute function require_live_project();
create trigger service_accounts_need_live_project before insert on service_accounts
  for each row execute function require_live_project();

-- Grants and rows ---------------------------------------------------------------------------------------------

grant insert on projects to gpuaas_tenant;
-- Locked by whoever could leave the tenant without an admin.
grant update (name) on organizations to gpuaas_tenant;
grant select (id), update (deleted_at) on organizations, projects to gpuaas_auth;
grant select (id, organization_id, email, permission_group, permission_group_id, project_id, invited_by, created_at,
    expires_at, accepted_at, accepted_by, revoked_at), insert, update (revoked_at) on invitations to gpuaas_tenant;
grant select, update (accepted_at, accepted_by) on invitations to gpuaas_auth;
grant select, insert, delete on ssh_keys to gpuaas_tenant;
grant update (revoked_at) on api_keys to gpuaas_auth;
grant select, insert on handed_over_resources to gpuaas_tenant;

drop policy own on organizations;
create policy own on organizations to gpuaas_tenant
  using (deleted_at is null and id = any ((select scope_organizations())::uuid[]));
drop policy sign_up on organizations;
create policy opening on organizations to gpuaas_auth using (true);
drop policy own on projects;
create policy own on projects to gpuaas_tenant
  using (deleted_at is null and organization_id = any ((select scope_organizations())::uuid[]));
drop policy sign_up on projects;
create policy opening on projects to gpuaas_auth using (true);

alter table invitations enable row level security;
create policy own on invitations to gpuaas_tenant
  using (organization_id = any ((select scope_organizations())::uuid[]));
create policy every on invitations to gpuaas_auth using (true);

alter table ssh_keys enable row level security;
create policy own on ssh_keys to gpuaas_tenant
  using (organization_id = any ((select scope_organizations())::uuid[]) or user_id = (select scope_caller()));

alter table handed_over_resources enable row level security;
create policy own on handed_over_resources to gpuaas_tenant
  using (organization_id = any ((select scope_organizations())::uuid[]));
