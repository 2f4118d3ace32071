-- Each kind of worker takes from its own queue, so that none is handed a workflow it does not know.
alter table workflow_starts add queue text not null default 'platform' check (queue ~ '^[a-z][a-z0-9-]{0,39}$');

