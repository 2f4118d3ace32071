-- A task is about a subject: its host, or an allocation today, other resources later.
alter table node_tasks add subject_type text, add subject_id uuid;
update node_tasks set
  subject_type = case when allocation_id is null then 'node' else 'allocation' end,
  subject_id = coalesce(allocation_id, node_id);
alter table node_tasks
  alter subject_type set not null,
  alter subject_id set not null,
  add constraint node_tasks_subject_type_check check (subject_type ~ '^[a-z][a-z_]{0,39}$'),
  add constraint node_tasks_subject_is_its_host check (subject_type <> 'node' or subject_id = node_id);

-- Tasks of one subject: what operators look up, and what a forced release withdraws.
create index node_tasks_of_subject on node_tasks (subject_id, created_at desc);
