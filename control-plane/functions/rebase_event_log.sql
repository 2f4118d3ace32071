-- For a database that was dumped and restored into another server, whose transaction ids start lower than
-- those in the log: keeps the events in their order and moves each cursor to before the first event it had
-- not read.
create or replace function rebase_event_log() returns void language plpgsql as $$
begin
  lock table outbox_events, event_consumers in access exclusive mode;
  update event_consumers c set cursor_xid = '1', cursor_position = coalesce(
    (select min(position) - 1 from outbox_events e where (e.xid, e.position) > (c.cursor_xid, c.cursor_position)),
    (select max(position) from outbox_events), 0);
  alter table outbox_events disable trigger outbox_events_append_only;
  update outbox_events set xid = '1';
  alter table outbox_events enable trigger outbox_events_append_only;
end $$;
