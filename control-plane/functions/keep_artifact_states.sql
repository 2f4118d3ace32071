-- The arrows of domains/apps/artifacts/states.ts, which a test compares. An artifact leaves a state only when nothing
-- relies on it: an active version on `active`, a canary on `canary` or `active`, an instance that has not ended on its
-- content.
create or replace function keep_artifact_states() returns trigger language plpgsql
  security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  if tg_op = 'INSERT' then
    if new.state <> 'draft' then
      raise exception 'artifact % begins as %, not as draft', new.digest, new.state using errcode = 'restrict_violation';
    end if;
    return new;
  end if;
  if not exists (
    select from (values ('draft', 'staged'), ('staged', 'canary'), ('canary', 'active'), ('canary', 'staged'),
      ('active', 'deprecated'), ('deprecated', 'retired')) as arrow (before, after)
    where arrow.before = old.state and arrow.after = new.state
  ) then
    raise exception 'artifact % cannot move from % to %', new.digest, old.state, new.state
      using errcode = 'restrict_violation';
  end if;
  if old.state = 'draft' and new.smoke_run_id is not null and not exists (
    select from app_artifact_smoke_runs r
    where r.id = new.smoke_run_id and r.digest = new.digest and r.state = 'passed'
  ) then
    raise exception 'artifact % has no smoke run % that passed', new.digest, new.smoke_run_id
      using errcode = 'restrict_violation';
  end if;
  if new.state in ('staged', 'deprecated') and exists (
    select from app_manifest_versions v where v.artifact_ref = new.digest and v.state in ('canary', 'active')
  ) then
    raise exception 'a version that is offered references artifact %', new.digest using errcode = 'restrict_violation';
  end if;
  if new.state = 'retired' and exists (
    select from app_instances i
      join app_manifest_versions v on v.slug = i.app_slug and v.version = i.app_version
    where v.artifact_ref = new.digest and i.ended_at is null
  ) then
    raise exception 'an app instance that has not ended uses artifact %', new.digest
      using errcode = 'restrict_violation';
  end if;
  return new;
end $$;
revoke execute on function keep_artifact_states() from public;
create or replace trigger keep_artifact_states before update of state on app_artifacts
  for each row when (old.state is distinct from new.state) execute function keep_artifact_states();
create or replace trigger begin_artifact_as_draft before insert on app_artifacts
  for each row execute function keep_artifact_states();
