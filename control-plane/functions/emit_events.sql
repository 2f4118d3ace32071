-- plan: by index
-- Only an event of a transaction with a higher number could stand before this one, and no transaction lasts a
-- day: other months need not be read.
create or replace function emit_events(events json) returns void language plpgsql as $$
begin
  insert into outbox_events (event_id, event_type, correlation_id, organization_id, subject_id, payload, xid)
    select e.event_id, e.event_type, e.correlation_id, e.organization_id, e.subject_id, e.payload,
      greatest(pg_current_xact_id(), (
        select o.xid from outbox_events o
        where o.subject_id = e.subject_id and o.xid > pg_current_xact_id()
          and o.occurred_at > now() - interval '1 day' and o.occurred_at < statement_timestamp() + interval '1 day'
        order by o.xid desc limit 1))
    from json_to_recordset(events) as e (event_id uuid, event_type text, correlation_id uuid, organization_id uuid,
      subject_id uuid, payload jsonb);
  if found then
    perform pg_notify('gpuaas_events', '');
  end if;
end $$;
