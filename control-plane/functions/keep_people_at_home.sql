create or replace function keep_people_at_home() returns trigger language plpgsql security definer
  set search_path = pg_catalog, public, pg_temp as $$
begin
  if exists (select from users u where u.id = new.user_id
      and u.home_organization_id is not null and u.home_organization_id <> new.organization_id) then
    raise exception 'the identity belongs to another tenant' using errcode = 'check_violation',
      constraint = 'members_stay_at_home';
  end if;
  return new;
end $$;
