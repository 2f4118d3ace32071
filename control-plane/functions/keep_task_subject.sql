-- Processes of the previous release know only `allocation_id` and run beside this one during an upgrade. A
-- later release can drop the column and this trigger.
create or replace function keep_task_subject() returns trigger language plpgsql as $$
begin
  if new.subject_type is null then
    new.subject_type := case when new.allocation_id is null then 'node' else 'allocation' end;
    new.subject_id := coalesce(new.allocation_id, new.node_id);
  end if;
  new.allocation_id := case when new.subject_type = 'allocation' then new.subject_id end;
  return new;
end $$;
create or replace trigger keep_task_subject before insert on node_tasks for each row execute function keep_task_subject();
