-- plan: by index
-- Starts many workflows of one kind; a repeated id is one workflow.
create or replace function start_workflows(kind text, starts json) returns void language plpgsql
as $$
begin
  insert into workflow_starts (workflow_id, name, input, queue)
    select s.workflow_id, kind, s.input, coalesce(s.queue, 'platform')
    from json_to_recordset(starts) as s (workflow_id text, input jsonb, queue text)
    on conflict (workflow_id) do nothing;
  if found then
    perform pg_notify('gpuaas_workflow_starts', '');
  end if;
end $$;
