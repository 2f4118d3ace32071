-- plan: by index
-- An allocation counts from its first claim until its last one ends.
create or replace function count_claims_in_quota()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  if tg_op = 'INSERT' then
    insert into quota_usage as u (organization_id, holder_type, holder_id, measure, unit, used)
      select m.organization_id, k.holder_type, k.holder_id, k.measure, k.unit, sum(k.amount)::bigint
      from (
        select a.organization_id, a.project_id, a.created_by, a.owner_user_id, s.gpu_model, a.currency,
          sum(t.slots + t.nodes * a.gpu_count)::bigint as gpus,
          count(*) filter (where first) as launches,
          coalesce(sum(a.per_gpu_hour_micros * a.gpu_count) filter (where first), 0)::bigint as per_hour
        from (
          select c.allocation_id, count(c.slot_id) as slots, count(*) - count(c.slot_id) as nodes
          from changed c where c.released_at is null group by 1
        ) as t
          join allocations a on a.id = t.allocation_id
          join sku_catalog s on s.sku = a.sku
          cross join lateral (select count(*) = t.slots + t.nodes as first from allocation_resource_claims every
            where every.allocation_id = t.allocation_id and every.released_at is null) as others
        group by 1, 2, 3, 4, 5, 6
      ) as m
        cross join lateral quota_counters(m.project_id, m.created_by, m.owner_user_id, m.gpu_model, m.currency,
          m.launches, m.gpus, m.per_hour) as k
      group by 1, 2, 3, 4, 5 order by 1, 2, 3, 4, 5
      on conflict (organization_id, holder_type, holder_id, measure, unit)
        do update set used = u.used + excluded.used;
    return null;
  end if;
  if not exists (select from changed where released_at is not null) then
    return null;
  end if;
  -- Every transaction takes the counters in the same order. Transactions that end other claims of the same
  -- allocation block here too; the next statement then sees their changes.
  perform from (
      select distinct a.organization_id, k.holder_type, k.holder_id, k.measure, k.unit
      from (select distinct c.allocation_id from changed c where c.released_at is not null) as t
        join allocations a on a.id = t.allocation_id
        join sku_catalog s on s.sku = a.sku
        cross join lateral quota_counters(a.project_id, a.created_by, a.owner_user_id, s.gpu_model, a.currency, 0, 0, 0) as k
      order by 1, 2, 3, 4, 5
    ) as m
      join quota_usage u on u.organization_id = m.organization_id and u.holder_type = m.holder_type
        and u.holder_id = m.holder_id and u.measure = m.measure and u.unit = m.unit
    order by u.organization_id, u.holder_type, u.holder_id, u.measure, u.unit
    for update of u;
  update quota_usage u set used = u.used - m.amount
    from (
      select m.organization_id, k.holder_type, k.holder_id, k.measure, k.unit, sum(k.amount)::bigint as amount
      from (
        select a.organization_id, a.project_id, a.created_by, a.owner_user_id, s.gpu_model, a.currency,
          sum(t.slots + t.nodes * a.gpu_count)::bigint as gpus,
          count(*) filter (where last) as launches,
          coalesce(sum(a.per_gpu_hour_micros * a.gpu_count) filter (where last), 0)::bigint as per_hour
        from (
          select c.allocation_id, count(c.slot_id) as slots, count(*) - count(c.slot_id) as nodes
          from changed c where c.released_at is not null group by 1
        ) as t
          join allocations a on a.id = t.allocation_id
          join sku_catalog s on s.sku = a.sku
          cross join lateral (select not exists (select from allocation_resource_claims every
            where every.allocation_id = t.allocation_id and every.released_at is null) as last) as others
        group by 1, 2, 3, 4, 5, 6
      ) as m
        cross join lateral quota_counters(m.project_id, m.created_by, m.owner_user_id, m.gpu_model, m.currency,
          m.launches, m.gpus, m.per_hour) as k
      group by 1, 2, 3, 4, 5
    ) as m
    where u.organization_id = m.organization_id and u.holder_type = m.holder_type and u.holder_id = m.holder_id
      and u.measure = m.measure and u.unit = m.unit;
  return null;
end $function$;
