-- An app instance ends only with evidence that nothing of it is left on a machine, or with a teardown that is open and
-- has a deadline. An end is final.
create or replace function keep_apps_honest() returns trigger language plpgsql
  security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  if old.ended_at is not null then
    raise exception 'app instance % has ended as %', old.id, old.status using errcode = 'restrict_violation';
  end if;
  if new.ended_at is not null and exists (
    select from app_instance_members m where m.instance_id = new.id and m.ended_at is null
  ) then
    raise exception 'app instance % has a member that has not ended', new.id using errcode = 'restrict_violation';
  end if;
  return new;
end $$;
revoke execute on function keep_apps_honest() from public;
create or replace trigger keep_apps_honest before update of status, ended_at on app_instances
  for each row when (old.status is distinct from new.status) execute function keep_apps_honest();
