-- Finished node tasks are deleted (functions/prune_node_tasks.sql): look-ups of what refers to them, and of later ones.
create index node_disks_evidence_task on node_disks (evidence_task_id) where evidence_task_id is not null;
create index node_tasks_of_kind on node_tasks (node_id, kind, created_at desc, id desc);
