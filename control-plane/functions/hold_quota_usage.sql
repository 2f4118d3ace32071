-- plan: by index
-- Locks the counters that launches will change, in the same order in every transaction, and returns them with
-- their limits. Counters that do not exist yet are omitted. Each counter is named once.
create or replace function hold_quota_usage(organizations uuid[], holder_types text[], holder_ids uuid[], measures text[],
  units text[])
  returns table (organization_id uuid, holder_type text, holder_id uuid, measure text, unit text, used bigint,
    platform_limit bigint, tenant_limit bigint)
  language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
#variable_conflict use_column
begin
  return query
    select q.organization_id, q.holder_type, q.holder_id, q.measure, q.unit, q.used, l.platform_limit, l.tenant_limit
    from unnest(organizations, holder_types, holder_ids, measures, units) as w (o, t, h, m, u)
      join quota_usage q on q.organization_id = w.o and q.holder_type = w.t and q.holder_id = w.h
        and q.measure = w.m and q.unit = w.u
      cross join lateral (
        select max(l.amount) filter (where l.set_by = 'platform') as platform_limit,
          max(l.amount) filter (where l.set_by = 'tenant') as tenant_limit
        from quota_limits l where l.organization_id = w.o and l.holder_type = w.t and l.holder_id = w.h
          and l.measure = w.m and l.unit = w.u) as l
    order by 1, 2, 3, 4, 5
    for update of q;
end $$;
