-- What people are told of, how they want to be told, and the e-mails on their way.

create table notifications (
  id uuid primary key,
  user_id uuid not null references users,
  -- Whose matter it is; the row is the person's, in whatever tenants they are.
  about_organization_id uuid,
  event_id uuid not null,
  event_type text not null,
  kind text not null,
  severity text not null check (severity in ('info', 'warning', 'critical')),
  title text not null check (length(title) between 1 and 200),
  body text not null check (length(body) <= 2000),
  link text not null check (length(link) <= 300),
  created_at timestamptz not null default now(),
  read_at timestamptz,
  -- However often the event arrives.
  unique (event_id, user_id)
);
create index notifications_inbox on notifications (user_id, id desc);
create index notifications_unread on notifications (user_id) where read_at is null;
create index notifications_age on notifications (created_at);

create table notification_preferences (
  user_id uuid not null references users,
  kind text not null,
  channel text not null check (channel in ('inbox', 'email')),
  enabled boolean not null,
  updated_at timestamptz not null default now(),
  primary key (user_id, kind, channel)
);
-- Who wants to hear of other people's leases.
create index notification_preferences_chosen on notification_preferences (kind, user_id) where enabled;

create table notification_emails (
  -- Also the message's own id, the same at every attempt: receivers tell a repetition by it.
  id uuid primary key,
  user_id uuid not null references users,
  event_id uuid not null,
  recipient text not null check (length(recipient) between 1 and 320),
  subject text not null check (length(subject) between 1 and 200),
  text_body text not null,
  html_body text not null,
  state text not null default 'pending' check (state in ('pending', 'sent', 'failed')),
  attempts integer not null default 0,
  next_attempt_at timestamptz not null default now(),
  leased_until timestamptz not null default '-infinity',
  last_error text,
  created_at timestamptz not null default now(),
  finished_at timestamptz,
  unique (event_id, user_id),
  check ((state = 'pending') = (finished_at is null))
);
create index notification_emails_due on notification_emails (next_attempt_at) where state = 'pending';
create index notification_emails_age on notification_emails (created_at);

grant select, update (read_at) on notifications to gpuaas_tenant;
grant select, insert, update, delete on notification_preferences to gpuaas_tenant;
grant select, insert, delete on notifications to gpuaas_worker;
grant select on notification_preferences to gpuaas_worker;
grant select, insert, update, delete on notification_emails to gpuaas_worker;
-- How much waits, for metrics.
grant select (state, created_at) on notification_emails to gpuaas_operator;

alter table notifications enable row level security;
create policy own on notifications to gpuaas_tenant using (user_id = (select scope_caller()));
create policy every on notifications to gpuaas_worker using (true);

alter table notification_preferences enable row level security;
create policy own on notification_preferences to gpuaas_tenant using (user_id = (select scope_caller()));
create policy every on notification_preferences for select to gpuaas_worker using (true);

alter table notification_emails enable row level security;
create policy every on notification_emails to gpuaas_worker using (true);
create policy counted on notification_emails for select to gpuaas_operator using (true);

-- What people are told names its tenant, project or team; the first two a worker sees already.
grant select (id, organization_id, name) on teams to gpuaas_worker;
create policy names on teams for select to gpuaas_worker using (true);
