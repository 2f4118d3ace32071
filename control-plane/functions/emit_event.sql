create or replace function emit_event(
  event_id uuid, event_type text, correlation_id uuid, organization_id uuid, subject_id uuid, payload jsonb
) returns void language sql volatile
begin atomic
  insert into outbox_events (event_id, event_type, correlation_id, organization_id, subject_id, payload, xid)
    values ($1, $2, $3, $4, $5, $6, greatest(
      pg_current_xact_id(),
      (select e.xid from outbox_events e where e.subject_id = $5 order by e.xid desc limit 1)
    ));
  select pg_notify('gpuaas_events', '');
end;
