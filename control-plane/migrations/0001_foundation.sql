-- Tenancy, access, audit, events and the keys of the platform.

create function forbid_change() returns trigger language plpgsql as $$
begin
  raise exception '% is append-only', tg_table_name using errcode = 'restrict_violation';
end $$;

create table organizations (
  id uuid primary key,
  name text not null check (length(name) between 1 and 200),
  created_at timestamptz not null default now()
);

create table projects (
  id uuid primary key,
  organization_id uuid not null references organizations,
  name text not null check (length(name) between 1 and 200),
  created_at timestamptz not null default now(),
  unique (organization_id, name),
  unique (organization_id, id)
);

create table users (
  id uuid primary key,
  issuer text not null,
  subject text not null,
  email text not null,
  name text not null,
  created_at timestamptz not null default now(),
  unique (issuer, subject)
);

create table permission_bindings (
  id uuid primary key,
  user_id uuid not null references users,
  permission_group text not null,
  scope text not null check (scope in ('platform', 'tenant', 'project')),
  organization_id uuid references organizations,
  project_id uuid,
  created_at timestamptz not null default now(),
  foreign key (organization_id, project_id) references projects (organization_id, id),
  check ((scope = 'platform') = (organization_id is null)),
  check ((scope = 'project') = (project_id is not null)),
  unique nulls not distinct (user_id, permission_group, scope, organization_id, project_id)
);

create table api_keys (
  id uuid primary key,
  user_id uuid not null references users,
  name text not null,
  prefix text not null,
  secret_hash bytea not null unique,
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  revoked_at timestamptz
);

create table sessions (
  id_hash bytea primary key,
  user_id uuid not null references users,
  csrf_token text not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null
);

-- One row per sign-in that left for the identity provider and has not come back yet.
create table pending_logins (
  state_hash bytea primary key,
  code_verifier text not null,
  nonce text not null,
  return_to text not null,
  expires_at timestamptz not null
);

-- Inserted first and answered last inside the transaction of the mutation itself, so that a crash between
-- the two leaves neither, and an equal request in flight waits on the primary key.
create table idempotency_keys (
  caller_id uuid not null,
  key text not null,
  operation text not null,
  request_hash bytea not null,
  response_status integer,
  response_body text,
  response_location text,
  created_at timestamptz not null default now(),
  primary key (caller_id, key)
);
create index idempotency_keys_created_at on idempotency_keys (created_at);

create table audit_logs (
  id uuid not null,
  occurred_at timestamptz not null default now(),
  actor_user_id uuid,
  actor_role text not null,
  action text not null,
  target_type text not null,
  target_id text not null,
  result text not null check (result in ('succeeded', 'refused', 'denied', 'failed')),
  correlation_id uuid not null,
  organization_id uuid,
  detail jsonb not null default '{}',
  primary key (id, occurred_at)
) partition by range (occurred_at);
create index audit_logs_target on audit_logs (target_type, target_id, occurred_at);
create trigger audit_logs_append_only before update or delete or truncate on audit_logs
  for each statement execute function forbid_change();

-- `xid` lets readers stay below the oldest running transaction, so that no late commit is skipped.
create table outbox_events (
  position bigint generated always as identity,
  xid xid8 not null default pg_current_xact_id(),
  event_id uuid not null,
  event_type text not null,
  occurred_at timestamptz not null default now(),
  version integer not null default 1,
  correlation_id uuid not null,
  organization_id uuid,
  subject_id uuid not null,
  payload jsonb not null,
  -- A key of a partitioned table holds its partition column; alone they are unique by how they are made.
  primary key (position, occurred_at),
  unique (event_id, occurred_at)
) partition by range (occurred_at);
create index outbox_events_cursor on outbox_events (xid, position);
create index outbox_events_subject on outbox_events (subject_id, position);
create trigger outbox_events_append_only before update or delete or truncate on outbox_events
  for each statement execute function forbid_change();

-- Audit rows and events live in a table per month (UTC). Retention drops whole months: nothing is ever deleted
-- row by row, so append-only holds without exception.
create function month_partition(parent text, month timestamptz) returns text language sql stable
  return parent || to_char(month at time zone 'UTC', '_YYYY_MM');

-- Makes the months from the one before `at` to `ahead` months after it, so that neither a slow clock nor an idle
-- maintenance leaves an insert without a place. Attaching does not lock out writers, as `partition of` would.
create function create_month_partitions(at timestamptz default now(), ahead integer default 3) returns void
  language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  parent text;
  month timestamptz;
  name text;
begin
  perform pg_advisory_xact_lock(hashtextextended('month_partitions', 0));
  foreach parent in array array['audit_logs', 'outbox_events'] loop
    for step in -1 .. ahead loop
      month := (date_trunc('month', at at time zone 'UTC') + make_interval(months => step)) at time zone 'UTC';
      name := month_partition(parent, month);
      continue when to_regclass(format('public.%I', name)) is not null;
      execute format('create table public.%I (like public.%I including defaults including constraints)', name, parent);
      execute format('create trigger %I before update or delete or truncate on public.%I
        for each statement execute function public.forbid_change()', parent || '_append_only', name);
      execute format('alter table public.%I attach partition public.%I for values from (%L) to (%L)', parent, name,
        month, (month at time zone 'UTC' + interval '1 month') at time zone 'UTC');
    end loop;
  end loop;
end $$;
select create_month_partitions();

-- CA and task-signing keys, sealed with the platform key that never enters the database.
create table platform_keys (
  name text primary key,
  sealed_private_key bytea not null,
  public_pem text not null,
  created_at timestamptz not null default now()
);

create table workflow_executors (
  executor_id text primary key,
  started_at timestamptz not null default now(),
  heartbeat_at timestamptz not null default now()
);
