-- Which process holds the tunnel of a host, so that any gateway finds the way to it. A process that dies stops renewing
-- its rows; what is past its lease counts for nothing and is taken over or cleared by any other.
create table node_tunnels (
  node_id uuid primary key references nodes on delete cascade,
  replica_id uuid not null,
  -- Of its node port, as the other processes reach it.
  address text not null check (length(address) between 1 and 300),
  connected_at timestamptz not null default now(),
  leased_until timestamptz not null
);
create index node_tunnels_lease on node_tunnels (leased_until);
grant select, insert, update, delete on node_tunnels to gpuaas_node;
grant select on node_tunnels to gpuaas_gateway, gpuaas_operator;
