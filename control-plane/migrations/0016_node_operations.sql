-- What operators do with hosts: edit, drain, burn in, maintain; and why nothing new is placed on one.

alter table nodes
  add profile_tags text[] not null default '{}',
  add drain_reason text,
  add check (cardinality(profile_tags) <= 16);

-- A host is for sale when it has no cordon and does not drain. Each cause has its row, and goes by itself.
create table node_cordons (
  node_id uuid not null references nodes,
  reason text not null check (reason in ('burn_in', 'maintenance', 'gpu_missing', 'gpu_unhealthy', 'agent_outdated')),
  detail text not null,
  since timestamptz not null default now(),
  primary key (node_id, reason)
);

create table node_burn_ins (
  id uuid primary key,
  node_id uuid not null references nodes,
  result text not null check (result in ('passed', 'failed')),
  evidence text not null check (evidence <> ''),
  recorded_by uuid not null,
  recorded_at timestamptz not null
);
create index node_burn_ins_node on node_burn_ins (node_id, id desc);
create trigger node_burn_ins_append_only before update or delete or truncate on node_burn_ins
  for each statement execute function forbid_change();

create table maintenance_windows (
  id uuid primary key,
  node_id uuid not null references nodes,
  starts_at timestamptz not null,
  ends_at timestamptz not null,
  reason text not null,
  notified_allocations integer not null,
  created_by uuid not null,
  created_at timestamptz not null,
  cancelled_at timestamptz,
  check (ends_at > starts_at)
);
create index maintenance_windows_node on maintenance_windows (node_id, id desc);
create index maintenance_windows_open on maintenance_windows (ends_at) where cancelled_at is null;

grant update (region, pool, rack, node_family, profile_tags, drain_reason) on nodes to gpuaas_operator;
grant select, insert, delete on node_cordons to gpuaas_operator;
grant select, insert, update (detail), delete on node_cordons to gpuaas_worker;
grant select on node_cordons to gpuaas_placement;
-- A host is cordoned in the transaction that enrols it.
grant insert on node_cordons to gpuaas_node;
grant select, insert on node_burn_ins to gpuaas_operator;
grant select, insert, update (cancelled_at) on maintenance_windows to gpuaas_operator;
grant select on maintenance_windows to gpuaas_worker;
