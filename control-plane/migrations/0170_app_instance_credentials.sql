-- The credential of an app instance is sealed and stored nowhere; whether it counts is read with each request.
grant select (id, organization_id, project_id, app_slug, app_version, status, created_by) on app_instances to gpuaas_auth;
create policy credentials on app_instances for select to gpuaas_auth using (true);
grant select (slug, version, platform_access) on app_manifest_versions to gpuaas_auth;
