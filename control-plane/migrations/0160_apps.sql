-- Apps: the catalog of manifests, and instances with members on allocations.

-- Enters guests: the one role that opens access keys and secrets for app instances.
do $$
declare
  role text := 'gpuaas_app_runtime';
  settable text := case when current_setting('server_version_num')::integer >= 160000 then 'SET' else 'MEMBER' end;
begin
  if to_regrole(role) is null then
    begin
      execute format('create role %I nologin', role);
    exception when duplicate_object or unique_violation then null;
    end;
  end if;
  if not pg_has_role(current_user, role, settable) then
    begin
      execute format('grant %I to %I', role, current_user);
    exception when unique_violation then null;
    end;
  end if;
exception when insufficient_privilege then
  raise exception 'the database user % can neither make nor take the role %: give it CREATEROLE, or the roles (docs/decisions/0003-database-roles.md)',
    current_user, role using errcode = 'insufficient_privilege';
end $$;

-- The catalog. `version` is the one activated last; new instances start from it while the manifest is active.
create table app_manifests (
  slug text primary key check (slug ~ '^[a-z][a-z0-9-]{0,39}$'),
  display_name text not null,
  version text,
  active boolean not null default false,
  created_at timestamptz not null default now(),
  check (not active or version is not null)
);

-- Payloads by digest.
create table app_artifacts (
  id uuid primary key,
  digest text not null unique check (digest ~ '^sha256:[0-9a-f]{64}$'),
  bytes bigint not null check (bytes >= 0),
  state text not null default 'draft' check (state in ('draft', 'active')),
  uploaded_by uuid not null,
  uploaded_by_name text not null,
  uploaded_at timestamptz not null default now()
);

-- Published versions never change, apart from their state.
create table app_manifest_versions (
  slug text not null references app_manifests,
  version text not null,
  state text not null default 'draft' check (state in ('draft', 'active')),
  display_name text not null,
  description text not null,
  kind text not null check (kind in ('service', 'job')),
  artifact_kind text not null check (artifact_kind in ('oci', 'launchable', 'controller')),
  artifact_ref text references app_artifacts (digest),
  artifact_format text check (artifact_format in ('file', 'tar')),
  compatibility jsonb not null,
  runtime_profile jsonb not null,
  parameters jsonb not null,
  secrets text[] not null,
  platform_access text[] not null,
  cors_origins text[] not null,
  published_by uuid not null,
  published_by_name text not null,
  published_at timestamptz not null default now(),
  activated_at timestamptz,
  primary key (slug, version),
  check ((artifact_ref is null) = (artifact_format is null))
);
create unique index app_manifest_versions_active on app_manifest_versions (slug) where state = 'active';
create index app_manifest_versions_artifact on app_manifest_versions (artifact_ref);
alter table app_manifests add foreign key (slug, version) references app_manifest_versions (slug, version);

create table app_instances (
  id uuid primary key,
  organization_id uuid not null references organizations,
  project_id uuid not null,
  app_slug text not null,
  app_version text not null,
  kind text not null check (kind in ('service', 'job')),
  name text not null,
  status text not null default 'created'
    check (status in ('created', 'starting', 'running', 'stopping', 'stopped', 'failed', 'succeeded')),
  desired text not null default 'run' check (desired in ('run', 'stop')),
  reason text,
  -- The gate that holds it up, with the numbers of the decision.
  gate jsonb,
  -- Status in which it will end; set when its end begins.
  ending text check (ending in ('stopped', 'failed', 'succeeded')),
  bound_capacity_shape text not null check (bound_capacity_shape in ('baremetal', 'gpu_slice')),
  allocation_id uuid not null references allocations,
  parameters jsonb not null,
  env jsonb not null,
  retry_of uuid references app_instances,
  attempt integer not null default 1 check (attempt >= 1),
  exit_code integer,
  correlation_id uuid not null,
  created_by uuid not null,
  created_by_name text not null,
  created_at timestamptz not null default now(),
  -- By when the move under way must be over; null in rest.
  due_at timestamptz,
  started_at timestamptz,
  ended_at timestamptz,
  foreign key (organization_id, project_id) references projects (organization_id, id),
  foreign key (app_slug, app_version) references app_manifest_versions (slug, version),
  constraint app_instances_end check ((status in ('stopped', 'failed', 'succeeded')) = (ended_at is not null)),
  constraint app_instances_reason check (status <> 'failed' or reason is not null),
  constraint app_instances_gate check (gate is null or status in ('created', 'failed')),
  constraint app_instances_attempt check ((retry_of is null) = (attempt = 1))
);
create index app_instances_project on app_instances (organization_id, project_id, id);
create index app_instances_allocation on app_instances (allocation_id, id);
create index app_instances_version on app_instances (app_slug, app_version);
create index app_instances_retry on app_instances (retry_of);
create index app_instances_live on app_instances (status, due_at) where ended_at is null;
create index app_instances_ended on app_instances (ended_at) where ended_at is not null;

create table app_instance_members (
  id uuid primary key,
  organization_id uuid not null references organizations,
  instance_id uuid not null references app_instances on delete cascade,
  allocation_id uuid not null references allocations,
  role text not null check (role in ('controller', 'worker', 'head', 'node')),
  status text not null default 'created'
    check (status in ('created', 'starting', 'running', 'stopping', 'stopped', 'failed', 'succeeded')),
  reason text,
  ports integer[] not null,
  exit_code integer,
  signal text,
  -- What the guest is: operating system, user, tools; recorded at the start.
  facts jsonb,
  cpu_seconds double precision,
  memory_bytes bigint,
  observed_at timestamptz,
  -- When it is looked at next; null when nothing of it can be on a machine.
  observe_at timestamptz,
  unreachable_since timestamptz,
  -- Bytes of the program's log that were read, and of the log that is kept.
  log_read bigint not null default 0,
  log_bytes bigint not null default 0,
  log_truncated boolean not null default false,
  started_at timestamptz,
  ended_at timestamptz,
  -- Evidence that nothing of it is left on a machine.
  teardown jsonb,
  teardown_proved_at timestamptz,
  -- By when the evidence of an ended member must be there.
  teardown_due_at timestamptz,
  constraint app_members_end check ((status in ('stopped', 'failed', 'succeeded')) = (ended_at is not null)),
  constraint app_members_teardown check (ended_at is null or teardown is not null or teardown_due_at is not null),
  constraint app_members_evidence check (
    (teardown is null) = (teardown_proved_at is null)
    and (teardown is null
      or teardown ->> 'proof' in ('never_started', 'wiped')
      or (teardown ->> 'proof' = 'observed' and (teardown ->> 'processes')::integer = 0
        and teardown -> 'ports' = '[]' and not (teardown ->> 'files')::boolean)))
);
create index app_instance_members_instance on app_instance_members (instance_id, id);
create index app_instance_members_due on app_instance_members (observe_at) where observe_at is not null;
create index app_instance_members_allocation on app_instance_members (allocation_id) where teardown is null;
create index app_instance_members_organization on app_instance_members (organization_id);

-- A port of a machine belongs to one member until its teardown is proven.
create table app_member_ports (
  allocation_id uuid not null references allocations,
  port integer not null check (port between 1 and 65535),
  member_id uuid not null references app_instance_members on delete cascade,
  organization_id uuid not null references organizations,
  primary key (allocation_id, port)
);
create index app_member_ports_member on app_member_ports (member_id);
create index app_member_ports_organization on app_member_ports (organization_id);

-- Values of the secrets that a member started with: what its log must not show. They go with the proof of its teardown.
create table app_member_secrets (
  member_id uuid primary key references app_instance_members on delete cascade,
  sealed_values bytea not null
);

create table app_instance_events (
  id uuid primary key,
  position bigint generated always as identity,
  organization_id uuid not null references organizations,
  instance_id uuid not null references app_instances on delete cascade,
  member_id uuid,
  event_type text not null check (event_type ~ '^[a-z_]{1,40}$'),
  message text not null,
  reason text,
  payload jsonb not null,
  occurred_at timestamptz not null
);
create unique index app_instance_events_instance on app_instance_events (instance_id, position);
create index app_instance_events_organization on app_instance_events (organization_id);

-- Logs in pieces; the last one grows in its row, full ones are blobs.
create table app_log_pieces (
  id uuid primary key,
  organization_id uuid not null references organizations,
  member_id uuid not null references app_instance_members on delete cascade,
  first_byte bigint not null check (first_byte >= 0),
  bytes integer not null check (bytes > 0),
  content bytea,
  digest text,
  created_at timestamptz not null default now(),
  unique (member_id, first_byte),
  check ((content is null) <> (digest is null)),
  check (content is null or length(content) = bytes)
);
create index app_log_pieces_organization on app_log_pieces (organization_id);

-- Running app instances are a measure of quotas.
alter table quota_limits drop constraint quota_limits_measure_check;
alter table quota_limits add constraint quota_limits_measure_check
  check (measure in ('allocations', 'gpus', 'spend_per_hour', 'app_instances'));
alter table quota_limits drop constraint quota_limits_check;
alter table quota_limits add constraint quota_limits_check
  check ((measure in ('allocations', 'app_instances')) = (unit = ''));
create or replace view claimed_quota with (security_invoker = true) as
  select organization_id, holder_type, holder_id, measure, unit, sum(amount)::bigint as used
  from (
    select a.organization_id, a.project_id, a.created_by, nullif(a.owner_user_id, a.created_by) as owner, s.gpu_model,
      a.currency, a.per_gpu_hour_micros * a.gpu_count as per_hour,
      sum(case c.claim_kind when 'slot' then 1 else a.gpu_count end) as gpus
    from allocation_resource_claims c
      join allocations a on a.id = c.allocation_id
      join sku_catalog s on s.sku = a.sku
    where c.released_at is null
    group by a.id, s.gpu_model
  ) held
    cross join lateral (values ('project', project_id), ('user', created_by), ('user', owner))
      as holder (holder_type, holder_id)
    cross join lateral (values ('allocations', '', 1), ('gpus', gpu_model, gpus), ('spend_per_hour', currency, per_hour))
      as counted (measure, unit, amount)
  where holder_id is not null
  group by 1, 2, 3, 4, 5
  union all
  select i.organization_id, holder.holder_type, holder.holder_id, 'app_instances', '', count(*)
  from app_instances i
    cross join lateral (values ('project', i.project_id), ('user', i.created_by)) as holder (holder_type, holder_id)
  where i.status in ('starting', 'running', 'stopping')
  group by 1, 2, 3;

-- Publishers.
grant select, insert, update (display_name, version, active) on app_manifests to gpuaas_operator;
grant select, insert, update (state, activated_at) on app_manifest_versions to gpuaas_operator;
grant select, insert, update (state) on app_artifacts to gpuaas_operator;
grant select on app_instances to gpuaas_operator;
alter table app_instances enable row level security;

-- People read; use-cases decide as the worker.
grant select on app_manifests, app_manifest_versions to gpuaas_tenant;
grant select on app_instances, app_instance_members, app_instance_events, app_log_pieces to gpuaas_tenant;
create policy own on app_instances for select to gpuaas_tenant
  using (organization_id = any ((select scope_organizations())::uuid[]));
alter table app_instance_members enable row level security;
create policy own on app_instance_members for select to gpuaas_tenant
  using (organization_id = any ((select scope_organizations())::uuid[]));
alter table app_instance_events enable row level security;
create policy own on app_instance_events for select to gpuaas_tenant
  using (organization_id = any ((select scope_organizations())::uuid[]));
alter table app_log_pieces enable row level security;
create policy own on app_log_pieces for select to gpuaas_tenant
  using (organization_id = any ((select scope_organizations())::uuid[]));
alter table app_member_ports enable row level security;

-- Gates hold counters, and ask whether the secrets exist.
grant execute on function hold_quota_usage(uuid[], text[], uuid[], text[], text[]) to gpuaas_worker;
grant execute on function open_quota_usage(uuid[], text[], uuid[], text[], text[]) to gpuaas_worker;
create policy named on project_secrets for select to gpuaas_worker using (true);

-- The worker admits, ends what never started, proves teardowns by wipes, and prunes.
grant select on app_manifests, app_manifest_versions to gpuaas_worker;
grant select, insert, delete, update (status, desired, reason, gate, ending, exit_code, due_at, started_at, ended_at)
  on app_instances to gpuaas_worker;
grant select, insert, update (status, reason, observe_at, ended_at, teardown, teardown_proved_at, teardown_due_at)
  on app_instance_members to gpuaas_worker;
grant select, insert, delete on app_member_ports to gpuaas_worker;
grant select (member_id), delete on app_member_secrets to gpuaas_worker;
grant select, insert on app_instance_events to gpuaas_worker;
grant select, delete on app_log_pieces to gpuaas_worker;

-- The runtime enters guests: what it starts, how to get in, and what it found there.
grant usage on schema public to gpuaas_app_runtime;
grant select on app_manifests, app_manifest_versions, app_artifacts to gpuaas_app_runtime;
grant select, insert, delete on app_member_secrets to gpuaas_app_runtime;
alter table app_member_secrets enable row level security;
create policy every on app_member_secrets to gpuaas_worker, gpuaas_app_runtime using (true);
grant select, update (status, desired, reason, gate, ending, exit_code, due_at, started_at, ended_at)
  on app_instances to gpuaas_app_runtime;
grant select, update (status, reason, exit_code, signal, facts, cpu_seconds, memory_bytes, observed_at, observe_at,
    unreachable_since, log_read, log_bytes, log_truncated, started_at, ended_at, teardown, teardown_proved_at,
    teardown_due_at)
  on app_instance_members to gpuaas_app_runtime;
grant select, delete on app_member_ports to gpuaas_app_runtime;
grant select, insert on app_instance_events to gpuaas_app_runtime;
grant select, insert, update (bytes, content, digest) on app_log_pieces to gpuaas_app_runtime;
create policy every on app_instances to gpuaas_operator, gpuaas_worker, gpuaas_app_runtime using (true);
create policy every on app_instance_members to gpuaas_worker, gpuaas_app_runtime using (true);
create policy every on app_member_ports to gpuaas_worker, gpuaas_app_runtime using (true);
create policy every on app_instance_events to gpuaas_worker, gpuaas_app_runtime using (true);
create policy every on app_log_pieces to gpuaas_worker, gpuaas_app_runtime using (true);
grant select (id, organization_id, project_id, state, desired_state, node_id, connection) on allocations
  to gpuaas_app_runtime;
create policy runtime on allocations for select to gpuaas_app_runtime using (true);
grant select on allocation_access_keys, node_tunnels to gpuaas_app_runtime;
create policy runtime on allocation_access_keys for select to gpuaas_app_runtime using (true);
grant insert on outbox_events to gpuaas_app_runtime;
grant select (subject_id, xid, occurred_at) on outbox_events to gpuaas_app_runtime;
create policy runtime on outbox_events for select to gpuaas_app_runtime using (true);
create policy runtime_write on outbox_events for insert to gpuaas_app_runtime with check (true);
grant insert, select (workflow_id) on workflow_starts to gpuaas_app_runtime;

-- The runtime is the one role that opens secrets; the worker held the right until it existed.
drop policy opened on project_secrets;
revoke select (id, sealed_value) on project_secrets from gpuaas_worker;
grant select (id, project_id, name, sealed_value) on project_secrets to gpuaas_app_runtime;
create policy opened on project_secrets for select to gpuaas_app_runtime using (true);
