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
  id uuid primary key,
  occurred_at timestamptz not null default now(),
  actor_user_id uuid,
  actor_role text not null,
  action text not null,
  target_type text not null,
  target_id text not null,
  result text not null check (result in ('succeeded', 'refused', 'denied', 'failed')),
  correlation_id uuid not null,
  organization_id uuid,
  detail jsonb not null default '{}'
);
create index audit_logs_target on audit_logs (target_type, target_id, occurred_at);
create trigger audit_logs_append_only before update or delete or truncate on audit_logs
  for each statement execute function forbid_change();

-- `xid` lets readers stay below the oldest running transaction, so that no late commit is skipped.
create table outbox_events (
  position bigint generated always as identity primary key,
  xid xid8 not null default pg_current_xact_id(),
  event_id uuid not null unique,
  event_type text not null,
  occurred_at timestamptz not null default now(),
  version integer not null default 1,
  correlation_id uuid not null,
  organization_id uuid,
  subject_id uuid not null,
  payload jsonb not null
);
create index outbox_events_cursor on outbox_events (xid, position);
create index outbox_events_subject on outbox_events (subject_id, position);
create trigger outbox_events_append_only before update or delete or truncate on outbox_events
  for each statement execute function forbid_change();

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
