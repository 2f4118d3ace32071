-- Payloads, logs and later images, volumes and models: content by digest, in the data folder or in S3.

-- The content-addressed store acts under a role of its own; nothing else writes its tables.
do $$
declare
  role text := 'gpuaas_blobs';
  settable text := case when current_setting('server_version_num')::integer >= 160000 then 'SET' else 'MEMBER' end;
begin
  if to_regrole(role) is null then
    begin
      execute format('create role %I nologin', role);
    exception when duplicate_object or unique_violation then null;
    end;
  end if;
  if not pg_has_role(current_user, role, settable) then
    begin
      execute format('grant %I to %I', role, current_user);
    exception when unique_violation then null;
    end;
  end if;
exception when insufficient_privilege then
  raise exception 'the database user % can neither make nor take the role %: give it CREATEROLE, or the roles (docs/decisions/0003-database-roles.md)',
    current_user, role using errcode = 'insufficient_privilege';
end $$;

create table blobs (
  digest text primary key check (digest ~ '^sha256:[0-9a-f]{64}$'),
  bytes bigint not null check (bytes >= 0),
  backend text not null check (backend in ('folder', 's3')),
  -- `writing` until the content is in place, `removing` from the decision until it is gone.
  state text not null check (state in ('writing', 'stored', 'corrupt', 'removing')),
  -- A writer of former content must not vouch for content that another one is still writing.
  generation uuid not null default gen_random_uuid(),
  created_at timestamptz not null default now(),
  touched_at timestamptz not null default now()
);
create index blobs_unsettled on blobs (touched_at) where state <> 'stored';

-- Tenants that stored a blob, the platform with null. Its bytes count for each of them, so that a quota does not reveal
-- what others have stored.
create table blob_holders (
  id uuid primary key,
  organization_id uuid references organizations,
  digest text not null references blobs,
  -- Since when nothing of the holder refers to it; null while something does.
  idle_since timestamptz default now(),
  unique nulls not distinct (digest, organization_id)
);
create index blob_holders_organization on blob_holders (organization_id);
create index blob_holders_idle on blob_holders (idle_since) where idle_since is not null;

-- The rows that keep a blob.
create table blob_references (
  holder_id uuid not null references blob_holders,
  subject_type text not null check (subject_type ~ '^[a-z_]{1,64}$'),
  subject_id uuid not null,
  created_at timestamptz not null default now(),
  primary key (holder_id, subject_type, subject_id)
);
create index blob_references_subject on blob_references (subject_type, subject_id);

-- Bytes held per tenant, counted by the trigger on holders alone.
create table blob_usage (
  organization_id uuid primary key references organizations,
  bytes bigint not null check (bytes >= 0)
);

grant usage on schema public to gpuaas_blobs;
grant select, insert, delete on blobs to gpuaas_blobs;
grant update (state, generation, touched_at) on blobs to gpuaas_blobs;
grant select, insert, delete, update (idle_since) on blob_holders to gpuaas_blobs;
grant select, insert, delete on blob_references to gpuaas_blobs;
grant select, insert, update (bytes) on blob_usage to gpuaas_blobs;
grant select (state, touched_at) on blobs to gpuaas_operator;

alter table blob_holders enable row level security;
create policy every on blob_holders to gpuaas_blobs using (true);
alter table blob_references enable row level security;
create policy every on blob_references to gpuaas_blobs using (true);
alter table blob_usage enable row level security;
create policy every on blob_usage to gpuaas_blobs using (true);
