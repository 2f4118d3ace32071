-- Whole months of audit rows or events that ended before `before`, once nobody needs them. Returns their names.
-- The floor stands here so that no setting and no caller can shorten history to nothing.
create function drop_month_partitions(parent text, before timestamptz) returns setof text
  language plpgsql security definer set search_path = pg_catalog, public, pg_temp set lock_timeout = '3s' as $$
declare
  kept interval := case parent when 'audit_logs' then interval '365 days' when 'outbox_events' then interval '7 days' end;
  month record;
  unread boolean;
begin
  if kept is null then
    raise exception '% has no months', parent using errcode = 'invalid_parameter_value';
  end if;
  if before > now() - kept then
    raise exception '% keeps at least %', parent, kept using errcode = 'invalid_parameter_value';
  end if;
  perform pg_advisory_xact_lock(hashtextextended('month_partitions', 0));
  for month in
    select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = format('public.%I', parent)::regclass
      and (to_date(right(c.relname, 7), 'YYYY_MM') + interval '1 month') at time zone 'UTC' <= before
    order by c.relname
  loop
    if parent = 'outbox_events' then
      execute format('select exists (select from event_consumers c cross join lateral (
        select from public.%I e where (e.xid, e.position) > (c.cursor_xid, c.cursor_position) limit 1) as unread)',
        month.name) into unread;
      exit when unread;
    end if;
    execute format('drop table public.%I', month.name);
    return next month.name;
  end loop;
end $$;
revoke execute on function drop_month_partitions(text, timestamptz) from public;
grant execute on function drop_month_partitions(text, timestamptz) to gpuaas_worker;
