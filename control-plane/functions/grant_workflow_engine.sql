-- The workflow engine creates its schema itself, after the migrations; the platform then calls this.
create or replace function grant_workflow_engine() returns void language plpgsql set search_path = pg_catalog, public, pg_temp as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('grant_workflow_engine', 0));
  grant usage on schema dbos to gpuaas_worker;
  -- The engine decides which tables its functions write.
  grant select, insert, update on all tables in schema dbos to gpuaas_worker;
  -- Metrics read the number of waiting workflows.
  grant usage on schema dbos to gpuaas_operator;
  grant select (workflow_uuid, status, name, created_at) on dbos.workflow_status to gpuaas_operator;
end $$;
