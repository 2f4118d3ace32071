-- What screens last showed of hosts and slots: written by an event consumer, never a source of truth.

create table node_overviews (
  node_id uuid primary key,
  posture text not null,
  projected_at timestamptz not null
);

create table slot_overviews (
  slot_id uuid primary key,
  node_id uuid not null,
  state text not null,
  projected_at timestamptz not null
);
create index slot_overviews_node on slot_overviews (node_id);

grant select on node_overviews, slot_overviews to gpuaas_operator;
grant select, insert, update, delete on node_overviews, slot_overviews to gpuaas_worker;

-- Silence is no event by itself: the reconciler tells of it once, and of the return once.
alter table nodes add announced_connection text not null default 'never_seen'
  check (announced_connection in ('never_seen', 'connected', 'unreachable'));
grant update (announced_connection) on nodes to gpuaas_worker;
