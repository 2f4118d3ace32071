-- Durable readers of the event log.

-- Readers walk the log by (xid, position) and stop below the oldest running transaction: nothing is skipped, but a
-- transaction that took its id early and emits late would sort before what its subject already told. So an event
-- takes the highest xid its subject has shown so far when that is above its own. A borrowed xid is never below the
-- real one, so readers still wait for the writer; and what was committed (or written by the same transaction) before
-- an event always sorts before it. No lock is needed: writers who change a subject hold its row already, and
-- events of transactions that did not see each other have no order to keep.
drop index outbox_events_subject;
create index outbox_events_subject on outbox_events (subject_id, xid);

create function emit_event(
  event_id uuid, event_type text, correlation_id uuid, organization_id uuid, subject_id uuid, payload jsonb
) returns void language sql volatile
begin atomic
  insert into outbox_events (event_id, event_type, correlation_id, organization_id, subject_id, payload, xid)
    values ($1, $2, $3, $4, $5, $6, greatest(
      pg_current_xact_id(),
      (select e.xid from outbox_events e where e.subject_id = $5 order by e.xid desc limit 1)
    ));
  select pg_notify('gpuaas_events', '');
end;

-- Where each consumer stands, and which process runs it now.
create table event_consumers (
  name text primary key check (name ~ '^[a-z][a-z0-9_.-]{0,62}$'),
  cursor_xid xid8 not null,
  cursor_position bigint not null,
  runner text,
  lease_expires_at timestamptz not null default '-infinity',
  -- Attempts at the event after the cursor that failed in a row.
  failures integer not null default 0,
  last_error text,
  created_at timestamptz not null default now(),
  advanced_at timestamptz not null default now()
);

-- What a consumer has done already; written in the transaction of the effect.
create table handled_events (
  consumer text not null,
  event_id uuid not null,
  handled_at timestamptz not null default now(),
  primary key (consumer, event_id)
);
create index handled_events_age on handled_events (handled_at);

-- For a database that was dumped and restored into another server, whose transaction ids start lower than those in
-- the log: keeps the events in their order of writing and moves each cursor to before the first one it had not read.
create function rebase_event_log() returns void language plpgsql as $$
begin
  lock table outbox_events, event_consumers in access exclusive mode;
  update event_consumers c set cursor_xid = '1', cursor_position = coalesce(
    (select min(position) - 1 from outbox_events e where (e.xid, e.position) > (c.cursor_xid, c.cursor_position)),
    (select max(position) from outbox_events), 0);
  alter table outbox_events disable trigger outbox_events_append_only;
  update outbox_events set xid = '1';
  alter table outbox_events enable trigger outbox_events_append_only;
end $$;
