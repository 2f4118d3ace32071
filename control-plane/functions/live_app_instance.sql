-- What the credential of an app instance stands for while the instance lives; no row once it has ended. Runs as the
-- owner: who authenticates reads nothing else of apps.
create or replace function live_app_instance(instance uuid)
  returns table (organization_id uuid, project_id uuid, created_by uuid, platform_access text[])
  language sql stable security definer set search_path = pg_catalog, public, pg_temp as $$
  select i.organization_id, i.project_id, i.created_by, v.platform_access
  from app_instances i join app_manifest_versions v on v.slug = i.app_slug and v.version = i.app_version
  where i.id = instance and i.status in ('starting', 'running', 'stopping')
$$;
revoke all on function live_app_instance(uuid) from public;
grant execute on function live_app_instance(uuid) to gpuaas_auth;
