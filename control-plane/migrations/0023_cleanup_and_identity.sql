-- Operators decide about quarantined slots and about who may speak for a host.

-- A wipe is proven by a task of the host, or by a person who witnessed it elsewhere.
alter table wipe_certificates
  alter node_task_id drop not null,
  add witnessed_by uuid,
  add constraint wipe_has_one_source check ((node_task_id is null) <> (witnessed_by is null));

alter table nodes add identity_revoked_at timestamptz;
alter table node_enrolments add revoked_at timestamptz;

grant update (identity_revoked_at) on nodes to gpuaas_operator, gpuaas_node;
grant update (revoked_at) on node_enrolments to gpuaas_operator;
