-- Tenants' endpoints for events, and the log of what was sent to them.

create table webhooks (
  id uuid primary key,
  organization_id uuid not null references organizations,
  project_id uuid not null,
  url text not null check (length(url) between 1 and 2000),
  description text not null default '' check (length(description) <= 200),
  -- Empty: every type a tenant may see.
  event_types text[] not null default '{}',
  state text not null default 'enabled' check (state in ('enabled', 'disabled')),
  disabled_reason text,
  sealed_secret bytea not null,
  sealed_previous_secret bytea,
  previous_secret_expires_at timestamptz,
  -- Since when every attempt has failed.
  failing_since timestamptz,
  created_by uuid not null references users,
  created_at timestamptz not null default now(),
  foreign key (organization_id, project_id) references projects (organization_id, id),
  check ((sealed_previous_secret is null) = (previous_secret_expires_at is null)),
  check ((state = 'disabled') = (disabled_reason is not null))
);
create index webhooks_project on webhooks (project_id, id desc);

create table webhook_deliveries (
  id uuid primary key,
  webhook_id uuid not null references webhooks on delete cascade,
  event_id uuid not null,
  event_type text not null,
  -- The bytes that are signed and sent, the same at every attempt.
  body text not null,
  replay_of uuid references webhook_deliveries on delete cascade,
  state text not null default 'pending' check (state in ('pending', 'delivered', 'failed')),
  attempts integer not null default 0,
  next_attempt_at timestamptz not null default now(),
  leased_until timestamptz not null default '-infinity',
  created_at timestamptz not null default now(),
  finished_at timestamptz
);
create unique index webhook_deliveries_once on webhook_deliveries (webhook_id, event_id) where replay_of is null;
create index webhook_deliveries_due on webhook_deliveries (webhook_id, next_attempt_at) where state = 'pending';
create index webhook_deliveries_leased on webhook_deliveries (webhook_id, leased_until)
  where state = 'pending' and leased_until > '-infinity';
create index webhook_deliveries_log on webhook_deliveries (webhook_id, id desc);
create index webhook_deliveries_age on webhook_deliveries (created_at);

create table webhook_attempts (
  delivery_id uuid not null references webhook_deliveries on delete cascade,
  attempt integer not null,
  started_at timestamptz not null,
  duration_ms integer not null,
  response_status integer,
  error text,
  primary key (delivery_id, attempt)
);
