-- Drops months that are older than the retention; of the audit log only those that a signed retirement names.
create or replace function drop_month_partitions(parent text, before timestamptz) returns setof text
  language plpgsql security definer set search_path = pg_catalog, public, pg_temp set lock_timeout = '3s' as $$
declare
  kept interval := case parent when 'audit_logs' then interval '365 days' when 'outbox_events' then interval '7 days' end;
  month record;
  needed boolean;
begin
  if kept is null then
    raise exception '% has no months', parent using errcode = 'invalid_parameter_value';
  end if;
  if before > now() - kept then
    raise exception '% keeps at least %', parent, kept using errcode = 'invalid_parameter_value';
  end if;
  perform pg_advisory_xact_lock(hashtextextended('month_partitions', 0));
  for month in
    select c.relname as name, to_date(right(c.relname, 7), 'YYYY_MM') as start
    from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = format('public.%I', parent)::regclass
      and (to_date(right(c.relname, 7), 'YYYY_MM') + interval '1 month') at time zone 'UTC' <= before
    order by c.relname
  loop
    if parent = 'outbox_events' then
      execute format('select exists (select from event_consumers c cross join lateral (
        select from public.%I e where (e.xid, e.position) > (c.cursor_xid, c.cursor_position) limit 1) as unread)',
        month.name) into needed;
    else
      execute format('select exists (select from public.%I) and not exists (
        select from audit_retirements r where r.month = $1)', month.name) using month.start into needed;
    end if;
    exit when needed;
    execute format('drop table public.%I', month.name);
    return next month.name;
  end loop;
end $$;
