-- Evidence is written once, and an ended member stays ended.
create or replace function keep_members_honest() returns trigger language plpgsql as $$
begin
  if old.teardown is not null and new.teardown is distinct from old.teardown then
    raise exception 'the teardown of member % is recorded', old.id using errcode = 'restrict_violation';
  end if;
  if old.ended_at is not null and new.status is distinct from old.status then
    raise exception 'member % has ended as %', old.id, old.status using errcode = 'restrict_violation';
  end if;
  return new;
end $$;
create or replace trigger keep_members_honest before update of status, teardown on app_instance_members
  for each row execute function keep_members_honest();
