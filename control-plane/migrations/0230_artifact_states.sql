-- Artifacts move through six states (keep_artifact_states), and come from the registry as well as from uploads.
alter table app_artifacts drop constraint app_artifacts_state_check;
alter table app_artifacts add constraint app_artifacts_state_check
  check (state in ('draft', 'staged', 'canary', 'active', 'deprecated', 'retired'));
alter table app_artifacts
  -- Repository of the registry in which `digest` is a manifest; null for an upload, whose digest is that of its payload.
  add column repository text check (repository ~ '^system/'),
  add column registered_tag text,
  add column media_type text,
  add column payload_digest text check (payload_digest ~ '^sha256:[0-9a-f]{64}$'),
  add column state_reason text not null default 'Uploaded',
  add column state_changed_at timestamptz not null default now(),
  -- What was found about signatures, and the key that made the one that counts.
  add column trust_verdict text not null default 'unsigned'
    check (trust_verdict in ('trusted', 'unsigned', 'untrusted', 'digest_mismatch')),
  add column trust_key text check (trust_key ~ '^sha256:[0-9a-f]{64}$'),
  add column trust_checked_at timestamptz not null default now(),
  add constraint app_artifacts_trust_key check ((trust_verdict = 'trusted') = (trust_key is not null));
update app_artifacts a set payload_digest = digest,
  state = case when exists (select from app_manifest_versions v where v.artifact_ref = a.digest and v.state = 'active')
    then 'active' else a.state end;
update app_artifacts set
  state_reason = case state when 'active' then 'Activated before artifacts had promotions' else 'Uploaded' end;
alter table app_artifacts alter column payload_digest set not null, alter column state_reason drop default,
  add constraint app_artifacts_upload check (repository is not null or payload_digest = digest);

alter table app_manifest_versions drop constraint app_manifest_versions_state_check;
alter table app_manifest_versions add constraint app_manifest_versions_state_check
  check (state in ('draft', 'canary', 'active'));
alter table app_manifest_versions
  -- That of its artifact, which never changes: tenants read versions and no artifacts.
  add column artifact_repository text,
  add column canary_percent integer check (canary_percent between 1 and 100),
  -- When it was taken back from canary; its instances that still wait then do not start.
  add column rolled_back_at timestamptz,
  add constraint app_manifest_versions_canary check ((state = 'canary') = (canary_percent is not null)),
  add constraint app_manifest_versions_rolled_back check (rolled_back_at is null or state = 'draft');
create unique index app_manifest_versions_one_canary on app_manifest_versions (slug) where state = 'canary';

grant update (state, state_reason, state_changed_at, trust_verdict, trust_key, trust_checked_at) on app_artifacts
  to gpuaas_operator;
grant update (canary_percent, rolled_back_at) on app_manifest_versions to gpuaas_operator;
grant select on app_artifacts to gpuaas_worker;
-- `for share` wants the right to update something: a launch and a promotion of the same app come one after the other.
grant update (display_name) on app_manifests to gpuaas_worker;
