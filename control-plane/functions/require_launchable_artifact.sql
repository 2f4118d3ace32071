-- A new instance gets an artifact that is canary or active; that of a smoke run gets the draft. The lock makes a move of the artifact wait for the launch, so
-- that a retirement sees its instance.
create or replace function require_launchable_artifact() returns trigger language plpgsql
  security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  artifact record;
begin
  select a.digest, a.state into artifact
  from app_manifest_versions v join app_artifacts a on a.digest = v.artifact_ref
  where v.slug = new.app_slug and v.version = new.app_version for share of a;
  if found and artifact.state not in ('canary', 'active') and not (
    artifact.state = 'draft' and exists (
      select from app_artifact_smoke_runs r
      where r.app_instance_id = new.id and r.digest = artifact.digest and r.state = 'running')
  ) then
    raise exception 'artifact % is % and takes no new instances', artifact.digest, artifact.state
      using errcode = 'restrict_violation';
  end if;
  return new;
end $$;
revoke execute on function require_launchable_artifact() from public;
create or replace trigger require_launchable_artifact before insert on app_instances
  for each row execute function require_launchable_artifact();
