-- A workflow whose process died may say a second time that it has ended, long after an operator asked for another round.
-- The round that is meant stands here, so that only its own word ends it. Null: the first one, which is part of the launch.
alter table allocations add cleanup_workflow_id text;
