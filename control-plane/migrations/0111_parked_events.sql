-- Events that a consumer failed to handle again and again, set aside so that it goes on with the next one.
create table parked_events (
  id uuid primary key,
  consumer text not null references event_consumers (name) on delete cascade,
  event_id uuid not null,
  event_type text not null,
  subject_id uuid not null,
  event jsonb not null,
  state text not null default 'parked' check (state in ('parked', 'retrying', 'handled', 'skipped')),
  failures integer not null check (failures > 0),
  last_error text not null,
  parked_at timestamptz not null default now(),
  settled_at timestamptz,
  settled_by uuid,
  reason text,
  unique (consumer, event_id),
  check ((settled_at is not null) = (state in ('handled', 'skipped')))
);
create index parked_events_open on parked_events (consumer, id) where settled_at is null;
grant select, insert, update on parked_events to gpuaas_relay;
grant select, update on parked_events to gpuaas_operator;
grant select, delete on parked_events to gpuaas_worker;
