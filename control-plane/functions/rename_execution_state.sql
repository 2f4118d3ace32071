-- Processes of the release before 0142_execution_states write its words, and no workflow, while they are replaced. This
-- trigger and `cleanup_workflow_id` can go with a later release.
create or replace function rename_execution_state() returns trigger language plpgsql as $$
begin
  new.execution_state := case new.execution_state
    when 'waiting in line' then 'queued'
    when 'cleaning up' then 'cleaning_up'
    when 'waiting for cleanup' then 'waiting_for_cleanup'
    else new.execution_state end;
  if new.execution_state in ('idle', 'queued', 'waiting_for_cleanup') then
    new.execution_workflow_id := null;
  end if;
  return new;
end $$;

create or replace trigger rename_execution_state before insert or update on allocations
  for each row when (new.execution_state in ('waiting in line', 'cleaning up', 'waiting for cleanup')
    or (new.execution_state = 'idle' and new.execution_workflow_id is not null))
  execute function rename_execution_state();
