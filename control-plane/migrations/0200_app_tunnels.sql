-- A host has a tunnel for terminals and one for the bytes of apps; they may end at different gateways.
alter table node_tunnels add column kind text not null default 'terminals' check (kind in ('terminals', 'apps'));
alter table node_tunnels drop constraint node_tunnels_pkey, add primary key (node_id, kind);
