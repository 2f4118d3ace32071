-- Every instance of an app with an http port gets an address when it is created. Twelve hex digits of a random UUID make
-- a label that nobody guesses and that no other instance ever had.
create or replace function give_app_address() returns trigger language plpgsql
  security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  insert into app_addresses (label, app_instance_id, organization_id, project_id)
  select new.app_slug || '-' || left(replace(gen_random_uuid()::text, '-', ''), 12),
    new.id, new.organization_id, new.project_id
  from app_manifest_versions v
  where v.slug = new.app_slug and v.version = new.app_version
    and v.runtime_profile -> 'ports' @> '[{"protocol": "http"}]';
  return null;
end $$;
revoke execute on function give_app_address() from public;
create or replace trigger give_app_address after insert on app_instances
  for each row execute function give_app_address();
