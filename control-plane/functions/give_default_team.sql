-- Processes of the previous release name no team and run beside this one during an upgrade. A later release
-- can drop this trigger.
create or replace function give_default_team() returns trigger language plpgsql
  security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  insert into teams (id, organization_id, name, is_default)
    select gen_random_uuid(), o.id, o.name, true from organizations o where o.id = new.organization_id
    on conflict do nothing;
  select t.id into new.team_id from teams t where t.organization_id = new.organization_id and t.is_default;
  return new;
end $$;
create or replace trigger give_default_team before insert on projects for each row
  when (new.team_id is null) execute function give_default_team();
