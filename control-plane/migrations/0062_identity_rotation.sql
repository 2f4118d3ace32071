-- Whoever had the whole host may have come near its key: the host gets another one before it is sold again.

alter table node_cordons drop constraint node_cordons_reason_check;
alter table node_cordons add constraint node_cordons_reason_check check
  (reason in ('burn_in', 'maintenance', 'gpu_missing', 'gpu_unhealthy', 'agent_outdated', 'conversion',
    'identity_rotation'));

alter table nodes
  -- The certificate that the last heartbeat came with.
  add certificate_serial text,
  -- Certificates up to this moment have had their time; null when nothing is due.
  add identity_rotation_since timestamptz;

-- Whose holder asked for this one; null for an enrolment. What does not descend from the certificate in use is foreign.
alter table node_certificates add renewed_from text;
create index node_certificates_by_node on node_certificates (node_id, issued_at);

grant update (certificate_serial) on nodes to gpuaas_node;
grant update (identity_rotation_since) on nodes to gpuaas_worker;
grant select (serial_number, issued_at, renewed_from), update (revoked_at) on node_certificates to gpuaas_worker;
