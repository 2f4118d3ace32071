-- A host changes between slices and baremetal by a workflow, and is out of sale meanwhile.

alter table node_cordons drop constraint node_cordons_reason_check;
alter table node_cordons add constraint node_cordons_reason_check check
  (reason in ('burn_in', 'maintenance', 'gpu_missing', 'gpu_unhealthy', 'agent_outdated', 'conversion'));

create table node_conversions (
  id uuid primary key,
  node_id uuid not null references nodes,
  from_mode text not null check (from_mode in ('slice', 'baremetal')),
  to_mode text not null check (to_mode in ('slice', 'baremetal')),
  state text not null default 'running' check (state in ('running', 'succeeded', 'undone', 'failed')),
  reason text not null,
  detail text,
  requested_by uuid not null,
  requested_at timestamptz not null,
  ended_at timestamptz,
  check ((state = 'running') = (ended_at is null))
);
create index node_conversions_node on node_conversions (node_id, id desc);
create unique index node_conversions_running on node_conversions (node_id) where state = 'running';

grant select, insert on node_conversions to gpuaas_operator;
grant select, update (state, detail, ended_at) on node_conversions to gpuaas_worker;
grant update (mode) on nodes to gpuaas_worker;
grant update (desired_state) on node_resource_slots to gpuaas_worker;
