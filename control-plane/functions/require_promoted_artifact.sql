-- An active version references only an active artifact, a canary one that is canary or active. The lock holds the
-- artifact in its state until the transaction ends.
create or replace function require_promoted_artifact() returns trigger language plpgsql
  security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  artifact_state text;
begin
  select a.state into artifact_state from app_artifacts a where a.digest = new.artifact_ref for share;
  if artifact_state = 'active' or (new.state = 'canary' and artifact_state = 'canary') then
    return new;
  end if;
  raise exception 'version % of % is % and its artifact %', new.version, new.slug, new.state, artifact_state
    using errcode = 'restrict_violation';
end $$;
revoke execute on function require_promoted_artifact() from public;
create or replace trigger require_promoted_artifact before insert or update of state on app_manifest_versions
  for each row when (new.state <> 'draft' and new.artifact_ref is not null) execute function require_promoted_artifact();
