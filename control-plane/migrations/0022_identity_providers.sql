-- A tenant's own identity provider, and the e-mail domains whose people are sent there once DNS proves them.
create table identity_providers (
  id uuid primary key,
  organization_id uuid not null references organizations,
  name text not null check (length(name) between 1 and 100),
  issuer text not null check (length(issuer) <= 500),
  client_id text not null,
  sealed_client_secret bytea not null,
  cli_client_id text,
  -- Where people who sign in for the first time become Regular Users; null: they get no rights by themselves.
  newcomers_project_id uuid,
  enabled boolean not null default true,
  created_by uuid not null,
  created_at timestamptz not null default now(),
  unique (organization_id, issuer),
  unique (organization_id, id),
  foreign key (organization_id, newcomers_project_id) references projects (organization_id, id)
);
create index identity_providers_issuer on identity_providers (issuer);

create table identity_provider_domains (
  id uuid primary key,
  organization_id uuid not null,
  identity_provider_id uuid not null,
  domain text not null check (domain = lower(domain) and length(domain) <= 253),
  token text not null,
  created_at timestamptz not null default now(),
  verified_at timestamptz,
  unique (identity_provider_id, domain),
  foreign key (organization_id, identity_provider_id) references identity_providers (organization_id, id)
    on delete cascade
);
-- Many may claim a domain; one has it.
create unique index identity_provider_domains_verified on identity_provider_domains (domain)
  where verified_at is not null;

alter table pending_logins add column identity_provider_id uuid references identity_providers on delete cascade;

-- Somebody for whom a tenant's own provider vouches belongs to that tenant and to no other.
alter table users add column home_organization_id uuid references organizations;
create function keep_people_at_home() returns trigger language plpgsql security definer
  set search_path = pg_catalog, public, pg_temp as $$
begin
  if exists (select from users u where u.id = new.user_id
      and u.home_organization_id is not null and u.home_organization_id <> new.organization_id) then
    raise exception 'the identity belongs to another tenant' using errcode = 'check_violation',
      constraint = 'members_stay_at_home';
  end if;
  return new;
end $$;
create trigger members_stay_at_home before insert or update on organization_members
  for each row execute function keep_people_at_home();

grant select (id, organization_id, name, issuer, client_id, cli_client_id, newcomers_project_id, enabled, created_by,
    created_at), insert, delete,
  update (name, client_id, sealed_client_secret, cli_client_id, newcomers_project_id, enabled)
  on identity_providers to gpuaas_tenant;
grant select, insert, delete, update (verified_at) on identity_provider_domains to gpuaas_tenant;
grant select on identity_providers, identity_provider_domains to gpuaas_auth;

alter table identity_providers enable row level security;
create policy own on identity_providers to gpuaas_tenant
  using (organization_id = any ((select scope_organizations())::uuid[]));
create policy every on identity_providers for select to gpuaas_auth using (true);
alter table identity_provider_domains enable row level security;
create policy own on identity_provider_domains to gpuaas_tenant
  using (organization_id = any ((select scope_organizations())::uuid[]));
create policy every on identity_provider_domains for select to gpuaas_auth using (true);
