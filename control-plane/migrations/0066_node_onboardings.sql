-- Machines of a MAAS become hosts by a workflow, whose steps operators can watch.

alter table nodes add column maas_system_id text unique;

create table node_onboardings (
  id uuid primary key,
  maas_system_id text not null,
  hostname text not null,
  profile text not null check (profile in ('slice_vm', 'baremetal')),
  region text not null references regions,
  pool text not null,
  rack text not null,
  node_family text not null,
  state text not null default 'running' check (state in ('running', 'succeeded', 'failed', 'cancelled')),
  -- Whether MAAS has the machine back, after an end other than success.
  undone boolean,
  detail text,
  enrolment_id uuid references node_enrolments,
  -- The enrolment's token, sealed, for as long as the machine may still need it.
  sealed_token bytea,
  node_id uuid references nodes,
  cancel_requested_by uuid,
  cancel_requested_at timestamptz,
  correlation_id uuid not null,
  requested_by uuid not null,
  requested_at timestamptz not null,
  ended_at timestamptz,
  check ((state = 'running') = (ended_at is null)),
  check ((state in ('failed', 'cancelled')) = (undone is not null)),
  check ((state = 'succeeded') <= (node_id is not null)),
  check (state = 'running' or sealed_token is null)
);
create unique index node_onboardings_running on node_onboardings (maas_system_id) where state = 'running';
create unique index node_onboardings_hostname on node_onboardings (hostname) where state = 'running';
create index node_onboardings_node on node_onboardings (node_id);
create index node_onboardings_enrolment on node_onboardings (enrolment_id);

create table node_onboarding_steps (
  onboarding_id uuid not null references node_onboardings on delete cascade,
  position smallint not null,
  step text not null check (step in ('tag', 'commission', 'test', 'allocate', 'deploy', 'enrol', 'discover')),
  state text not null default 'waiting' check (state in ('waiting', 'running', 'done', 'failed', 'skipped')),
  message text,
  started_at timestamptz,
  finished_at timestamptz,
  primary key (onboarding_id, step),
  unique (onboarding_id, position)
);

grant select, insert, update (cancel_requested_by, cancel_requested_at) on node_onboardings to gpuaas_operator;
grant select, insert on node_onboarding_steps to gpuaas_operator;
grant select, update (state, undone, detail, enrolment_id, sealed_token, node_id, ended_at) on node_onboardings
  to gpuaas_worker;
grant select, update (state, message, started_at, finished_at) on node_onboarding_steps to gpuaas_worker;
grant update (maas_system_id, profile_tags) on nodes to gpuaas_worker;
grant select (id, node_id) on node_enrolments to gpuaas_worker;
