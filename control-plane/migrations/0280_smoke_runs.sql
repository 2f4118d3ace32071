-- A draft is staged after a smoke run that passed, or with a waiver; either stays with the artifact.
create table app_artifact_smoke_runs (
  id uuid primary key,
  digest text not null references app_artifacts (digest),
  app_slug text not null,
  app_version text not null,
  -- The evidence. No foreign key: it outlives the retention of instances.
  app_instance_id uuid not null unique,
  project_id uuid not null,
  state text not null default 'running' check (state in ('running', 'passed', 'failed')),
  -- Why it failed, or what it waits for.
  reason text,
  message text not null,
  requested_by uuid not null,
  requested_by_name text not null,
  started_at timestamptz not null,
  due_at timestamptz not null,
  ended_at timestamptz,
  foreign key (app_slug, app_version) references app_manifest_versions (slug, version),
  constraint app_artifact_smoke_runs_end check ((state = 'running') = (ended_at is null)),
  constraint app_artifact_smoke_runs_reason check (state = 'running' or (state = 'failed') = (reason is not null))
);
create unique index app_artifact_smoke_runs_running on app_artifact_smoke_runs (digest) where state = 'running';
create index app_artifact_smoke_runs_digest on app_artifact_smoke_runs (digest, id);
create index app_artifact_smoke_runs_version on app_artifact_smoke_runs (app_slug, app_version);
grant select on app_artifact_smoke_runs to gpuaas_operator;
grant select, insert, update (state, reason, message, ended_at) on app_artifact_smoke_runs to gpuaas_worker;

alter table app_artifacts
  add column smoke_run_id uuid references app_artifact_smoke_runs,
  add column smoke_waiver text;
update app_artifacts set smoke_waiver = 'Staged before artifacts had smoke runs' where state <> 'draft';
alter table app_artifacts add constraint app_artifacts_smoke_run
  check (state = 'draft' or smoke_run_id is not null or smoke_waiver is not null);
create index app_artifacts_smoke_run on app_artifacts (smoke_run_id);
grant update (smoke_run_id, smoke_waiver) on app_artifacts to gpuaas_operator;
