-- The embedded OCI registry. Repositories without an organization are the platform's own: tenants read them.
create table registry_repositories (
  id uuid primary key,
  organization_id uuid references organizations,
  project_id uuid,
  name text not null check (length(name) between 1 and 200),
  created_at timestamptz not null default now(),
  -- Its name is free and nobody sees it; the collector removes what was in it.
  deleted_at timestamptz,
  check ((organization_id is null) = (project_id is null)),
  foreign key (organization_id, project_id) references projects (organization_id, id)
);
create unique index registry_repositories_name on registry_repositories (project_id, name) nulls not distinct
  where deleted_at is null;
create index registry_repositories_project on registry_repositories (organization_id, project_id);
create index registry_repositories_deleted on registry_repositories (deleted_at) where deleted_at is not null;

-- Layers, configurations and other content that was pushed to a repository or mounted there.
create table registry_blobs (
  id uuid primary key,
  organization_id uuid references organizations,
  repository_id uuid not null references registry_repositories,
  digest text not null check (digest ~ '^sha256:[0-9a-f]{64}$'),
  bytes bigint not null check (bytes >= 0),
  -- A push that has seen it may name it in a manifest for the grace period from here.
  touched_at timestamptz not null default now(),
  unique (repository_id, digest)
);
create index registry_blobs_organization on registry_blobs (organization_id);
create index registry_blobs_touched on registry_blobs (touched_at);

create table registry_manifests (
  id uuid primary key,
  organization_id uuid references organizations,
  repository_id uuid not null references registry_repositories,
  digest text not null check (digest ~ '^sha256:[0-9a-f]{64}$'),
  media_type text not null,
  artifact_type text,
  bytes bigint not null check (bytes > 0),
  -- The manifest that this one describes, such as the image of a signature. It may come later.
  subject_digest text,
  annotations jsonb,
  -- A user or a service account, and its name at that time.
  pushed_by uuid not null,
  pushed_by_name text not null,
  pushed_at timestamptz not null default now(),
  unique (repository_id, digest),
  unique (repository_id, id)
);
create index registry_manifests_organization on registry_manifests (organization_id);
create index registry_manifests_subject on registry_manifests (repository_id, subject_digest, digest)
  where subject_digest is not null;

-- Content that a manifest names stays while the manifest does.
create table registry_manifest_blobs (
  organization_id uuid references organizations,
  repository_id uuid not null,
  manifest_id uuid not null,
  digest text not null,
  primary key (manifest_id, digest),
  foreign key (repository_id, manifest_id) references registry_manifests (repository_id, id) on delete cascade,
  -- Checked at commit, so that a repository is emptied in any order.
  foreign key (repository_id, digest) references registry_blobs (repository_id, digest) deferrable initially deferred
);
create index registry_manifest_blobs_digest on registry_manifest_blobs (repository_id, digest);
create index registry_manifest_blobs_organization on registry_manifest_blobs (organization_id);

-- Manifests that an index names stay while the index does.
create table registry_manifest_children (
  organization_id uuid references organizations,
  repository_id uuid not null,
  manifest_id uuid not null,
  digest text not null,
  primary key (manifest_id, digest),
  foreign key (repository_id, manifest_id) references registry_manifests (repository_id, id) on delete cascade,
  foreign key (repository_id, digest) references registry_manifests (repository_id, digest)
    deferrable initially deferred
);
create index registry_manifest_children_digest on registry_manifest_children (repository_id, digest);
create index registry_manifest_children_organization on registry_manifest_children (organization_id);

create table registry_tags (
  organization_id uuid references organizations,
  repository_id uuid not null,
  name text collate "C" not null check (name ~ '^[a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}$'),
  digest text not null,
  moved_by uuid not null,
  moved_by_name text not null,
  moved_at timestamptz not null default now(),
  primary key (repository_id, name),
  foreign key (repository_id, digest) references registry_manifests (repository_id, digest)
    deferrable initially deferred
);
create index registry_tags_digest on registry_tags (repository_id, digest);
create index registry_tags_organization on registry_tags (organization_id);

-- An open upload is the list of its chunks, each stored as content by digest: any process goes on with it.
create table registry_uploads (
  id uuid primary key,
  organization_id uuid references organizations,
  repository_id uuid not null references registry_repositories,
  bytes bigint not null default 0 check (bytes >= 0),
  started_at timestamptz not null default now(),
  touched_at timestamptz not null default now()
);
create index registry_uploads_repository on registry_uploads (repository_id);
create index registry_uploads_organization on registry_uploads (organization_id);
create index registry_uploads_touched on registry_uploads (touched_at);

create table registry_upload_chunks (
  organization_id uuid references organizations,
  upload_id uuid not null references registry_uploads on delete cascade,
  begins_at bigint not null check (begins_at >= 0),
  bytes bigint not null check (bytes > 0),
  digest text not null check (digest ~ '^sha256:[0-9a-f]{64}$'),
  primary key (upload_id, begins_at)
);
create index registry_upload_chunks_organization on registry_upload_chunks (organization_id);

-- Tenants change their own and read the platform's; operators change the platform's; the worker collects.
do $$
declare
  name text;
begin
  foreach name in array array['registry_repositories', 'registry_blobs', 'registry_manifests',
    'registry_manifest_blobs', 'registry_manifest_children', 'registry_tags', 'registry_uploads',
    'registry_upload_chunks']
  loop
    execute format('alter table %I enable row level security', name);
    execute format('grant select, insert, delete on %I to gpuaas_tenant, gpuaas_operator', name);
    execute format('grant select, delete on %I to gpuaas_worker', name);
    execute format('create policy own on %I to gpuaas_tenant
      using (organization_id = any ((select scope_organizations())::uuid[]))', name);
    execute format('create policy system on %I to gpuaas_operator using (organization_id is null)', name);
    execute format('create policy every on %I to gpuaas_worker using (true)', name);
  end loop;
  foreach name in array array['registry_repositories', 'registry_blobs', 'registry_manifests',
    'registry_manifest_blobs', 'registry_manifest_children', 'registry_tags']
  loop
    execute format('create policy shared on %I for select to gpuaas_tenant using (organization_id is null)', name);
  end loop;
end $$;
revoke delete on registry_repositories from gpuaas_tenant, gpuaas_operator;
grant update (deleted_at) on registry_repositories to gpuaas_tenant, gpuaas_operator;
grant update (touched_at) on registry_blobs to gpuaas_tenant, gpuaas_operator;
grant update (digest, moved_by, moved_by_name, moved_at) on registry_tags to gpuaas_tenant, gpuaas_operator;
grant update (bytes, touched_at) on registry_uploads to gpuaas_tenant, gpuaas_operator;
-- `for key share` and `for update` want the right to update something.
grant update (pushed_at) on registry_manifests to gpuaas_tenant, gpuaas_operator;
grant update (touched_at) on registry_blobs, registry_uploads to gpuaas_worker;
grant update (deleted_at) on registry_repositories to gpuaas_worker;
