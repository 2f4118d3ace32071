-- Creates counters before the first launch, so that two first launches also block each other.
create or replace function open_quota_usage(organizations uuid[], holder_types text[], holder_ids uuid[], measures text[],
  units text[]) returns void
  language sql security definer set search_path = pg_catalog, public, pg_temp as $$
  insert into quota_usage (organization_id, holder_type, holder_id, measure, unit)
    select * from unnest(organizations, holder_types, holder_ids, measures, units)
    order by 1, 2, 3, 4, 5
    on conflict do nothing;
$$;
