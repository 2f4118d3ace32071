-- The audit log is chained after the fact: rows are inserted without a look at any other row, and an elected sealer puts
-- them into segments, each with the hash of every row, the head of the chain and a signature (platform/audit).

-- Transaction ids order the rows. A restore on another server starts with lower ones; `rebase_audit_log` lifts them.
create table audit_clock (
  singleton boolean primary key default true check (singleton),
  base bigint not null default 0
);
insert into audit_clock default values;

create function audit_position() returns bigint language sql stable
  security definer set search_path = pg_catalog, public, pg_temp
  return (select base from audit_clock) + pg_current_xact_id()::text::bigint;

-- Every row below it is committed or never will be, and none can be added.
create function audit_horizon() returns bigint language sql stable
  security definer set search_path = pg_catalog, public, pg_temp
  return (select base from audit_clock) + pg_snapshot_xmin(pg_current_snapshot())::text::bigint;

alter table audit_logs
  add column xid bigint not null default audit_position(),
  add column actor_kind text not null default 'user'
    check (actor_kind in ('user', 'service_account', 'node', 'system', 'anonymous')),
  add column credential_id text,
  add column ip inet,
  add column before jsonb,
  add column after jsonb;
create index audit_logs_order on audit_logs (xid, id);
create index audit_logs_tenant on audit_logs (organization_id, id);
create index audit_logs_actor on audit_logs (actor_user_id, id);
create index audit_logs_correlation on audit_logs (correlation_id);

create function rebase_audit_log() returns void language plpgsql as $$
begin
  update audit_clock set base = greatest(base, coalesce((select max(xid) from audit_logs), 0),
    coalesce((select max(upto_xid) from audit_segments), 0));
end $$;
revoke execute on function rebase_audit_log() from public;

-- A run of rows of one month, in the order of (xid, id), from the end of the segment before it up to `upto`. `leaves`
-- holds the id and hash of each row, so that a change is found where it is.
create table audit_segments (
  segment bigint primary key check (segment > 0),
  month date not null check (extract(day from month) = 1),
  row_count integer not null check (row_count > 0),
  upto_xid bigint not null,
  upto_id uuid not null,
  leaves bytea not null check (length(leaves) = 48 * row_count),
  previous_hash bytea not null check (length(previous_hash) = 32),
  head_hash bytea not null check (length(head_hash) = 32),
  sealed_at timestamptz not null,
  key_id text not null,
  signature text not null
);
create index audit_segments_month on audit_segments (month, segment);
create trigger audit_segments_append_only before update or delete or truncate on audit_segments
  for each statement execute function forbid_change();

-- Somebody holds the export of the month and has shown the head of its chain.
create table audit_exports (
  month date primary key,
  last_segment bigint not null,
  row_count bigint not null,
  head_hash bytea not null,
  confirmed_by uuid not null,
  confirmed_at timestamptz not null default now()
);
create trigger audit_exports_append_only before update or delete or truncate on audit_exports
  for each statement execute function forbid_change();

-- A month whose rows are gone on purpose. Signed: an unsigned hole in the log is a finding.
create table audit_retirements (
  month date primary key,
  first_segment bigint not null,
  last_segment bigint not null,
  row_count bigint not null,
  retired_at timestamptz not null,
  key_id text not null,
  signature text not null
);
create trigger audit_retirements_append_only before update or delete or truncate on audit_retirements
  for each statement execute function forbid_change();

grant select, insert on audit_segments, audit_retirements to gpuaas_worker;
grant select on audit_segments, audit_retirements, audit_exports to gpuaas_operator;
grant select on audit_exports to gpuaas_worker;
grant insert on audit_exports to gpuaas_operator;
-- The sealer and the verifier read every row.
grant select on audit_logs to gpuaas_worker;

-- As before, and of the audit log only what a signed retirement names.
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
