-- The lock on the start row decides: either the dispatcher has moved the row, and the engine takes the
-- signal, or it has not, and the signal is stored beside the row. The dispatcher cannot run in between.
create or replace function signal_workflow(target text, signal_topic text, body json) returns void
  language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  perform 1 from workflow_starts where workflow_id = target for key share;
  if found then
    insert into workflow_signals (workflow_id, topic, message) values (target, signal_topic, body)
      on conflict (workflow_id, topic) do nothing;
  else
    perform dbos.send_message(target, body, signal_topic, target || '::' || signal_topic);
  end if;
end $$;
