-- A host that no longer meets its prerequisites is cordoned, and a host is inspected again after each boot.

alter table node_cordons drop constraint node_cordons_reason_check;
alter table node_cordons add constraint node_cordons_reason_check check (reason in ('burn_in', 'maintenance', 'gpu_missing',
  'gpu_unhealthy', 'agent_outdated', 'not_ready', 'conversion', 'identity_rotation'));

alter table nodes add column booted_at timestamptz;
comment on column nodes.booted_at is 'When a heartbeat first named the present boot; null before the first change of boot.';
grant update (booted_at) on nodes to gpuaas_node;

-- A machine that MAAS installed is promoted by the workflow that imported it.
grant insert on node_conversions to gpuaas_worker;
