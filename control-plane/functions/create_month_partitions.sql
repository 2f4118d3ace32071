-- Creates the months from the one before `at` to `ahead` months after it, so that neither a slow clock nor
-- missed maintenance leaves an insert without a partition. Attaching does not lock out writers, as `partition
-- of` would.
create or replace function create_month_partitions(at timestamptz default now(), ahead integer default 3) returns void
  language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  parent text;
  month timestamptz;
  name text;
begin
  perform pg_advisory_xact_lock(hashtextextended('month_partitions', 0));
  foreach parent in array array['audit_logs', 'outbox_events'] loop
    for step in -1 .. ahead loop
      month := (date_trunc('month', at at time zone 'UTC') + make_interval(months => step)) at time zone 'UTC';
      name := month_partition(parent, month);
      continue when to_regclass(format('public.%I', name)) is not null;
      execute format('create table public.%I (like public.%I including defaults including constraints)', name, parent);
      execute format('create trigger %I before update or delete or truncate on public.%I
        for each statement execute function public.forbid_change()', parent || '_append_only', name);
      execute format('alter table public.%I attach partition public.%I for values from (%L) to (%L)', parent, name,
        month, (month at time zone 'UTC' + interval '1 month') at time zone 'UTC');
    end loop;
  end loop;
end $$;
