-- What works on an allocation is one of a few states, and the workflow that does is named: only that workflow may act on
-- it. `cleanup_workflow_id` named it for later cleanups alone; the release before this one still writes that column.
alter table allocations add execution_workflow_id text;

update allocations set
  execution_state = case execution_state
    when 'waiting in line' then 'queued'
    when 'cleaning up' then 'cleaning_up'
    when 'waiting for cleanup' then 'waiting_for_cleanup'
    else execution_state end,
  execution_workflow_id = case execution_state
    when 'provisioning' then 'provision:' || id
    when 'releasing' then 'release:' || id || ':' || release_attempts
    when 'cleaning up' then coalesce(cleanup_workflow_id, 'provision:' || id)
    end
where execution_state <> 'idle';

alter table allocations add constraint allocations_execution_state_check
  check (execution_state in ('idle', 'queued', 'provisioning', 'releasing', 'cleaning_up', 'waiting_for_cleanup'));
