-- Durable work: start rows, signals that arrive early, executor leases, periodic ticks, incidents.

-- Committed with the domain write; a dispatcher moves rows to the engine in bulk, so that the hot transaction
-- pays for one insert and no more.
create table workflow_starts (
  workflow_id text primary key check (length(workflow_id) between 1 and 200),
  position bigint generated always as identity,
  name text not null check (length(name) between 1 and 200),
  input jsonb not null,
  created_at timestamptz not null default now()
);
create index workflow_starts_order on workflow_starts (position);

-- Signals to a workflow that still is a start row: the engine refuses messages to what it does not know yet.
create table workflow_signals (
  workflow_id text not null,
  topic text not null,
  message jsonb not null,
  created_at timestamptz not null default now(),
  primary key (workflow_id, topic)
);

-- The lock on the start row decides: either the dispatcher has moved it, and the engine takes the signal, or
-- it has not, and the signal waits beside it. The dispatcher cannot pass in between.
create function signal_workflow(target text, signal_topic text, body json) returns void language plpgsql as $$
begin
  perform 1 from workflow_starts where workflow_id = target for key share;
  if found then
    insert into workflow_signals (workflow_id, topic, message) values (target, signal_topic, body)
      on conflict (workflow_id, topic) do nothing;
  else
    perform dbos.send_message(target, body, signal_topic, target || '::' || signal_topic);
  end if;
end $$;

-- `lost_count` is the epoch of the lease: it moves whenever workflows are taken from the executor, so that a
-- process that only slept learns that what it was running is no longer its own.
alter table workflow_executors
  add column host text not null default '',
  add column stopped_at timestamptz,
  add column lost_at timestamptz,
  add column lost_count integer not null default 0;

create table tick_runs (
  tick text not null,
  period_start timestamptz not null,
  period_end timestamptz not null check (period_end > period_start),
  runner text not null,
  attempts integer not null default 1,
  skipped_periods integer not null default 0,
  started_at timestamptz not null,
  finished_at timestamptz,
  error text,
  primary key (tick, period_start)
);

create table incidents (
  id uuid primary key,
  type text not null,
  severity text not null check (severity in ('critical', 'major', 'minor')),
  dedupe_key text not null check (length(dedupe_key) between 1 and 300),
  target_type text not null,
  target_id text not null,
  summary text not null check (length(summary) between 1 and 500),
  detail jsonb not null default '{}',
  runbook text not null,
  occurrences integer not null default 1,
  opened_at timestamptz not null,
  last_seen_at timestamptz not null,
  deadline timestamptz not null,
  acknowledged_at timestamptz,
  acknowledged_by uuid references users,
  resolved_at timestamptz,
  resolved_by uuid references users,
  resolution text
);
create unique index incidents_one_open on incidents (dedupe_key) where resolved_at is null;
create index incidents_newest on incidents (opened_at desc, id desc);

-- How long an allocation has been in its state; the deadline of the state counts from here.
alter table allocations add column state_changed_at timestamptz not null default now();
create function stamp_state_change() returns trigger language plpgsql as $$
begin
  new.state_changed_at := now();
  return new;
end $$;
create trigger allocations_stamp_state before update of state on allocations
  for each row when (old.state is distinct from new.state) execute function stamp_state_change();
