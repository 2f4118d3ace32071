-- A lease that gets another owner counts for that owner from then on.
create or replace function move_quota_to_owner() returns trigger language plpgsql
  security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  -- Lock the counters first: a transaction that ends claims of the lease blocks, and the next statement sees
  -- its changes.
  insert into quota_usage (organization_id, holder_type, holder_id, measure, unit)
    select new.organization_id, 'user', h.holder, c.measure, c.unit
    from (values (old.owner_user_id), (new.owner_user_id)) as h (holder)
      cross join (values ('allocations', ''), ('gpus', (select s.gpu_model from sku_catalog s where s.sku = new.sku)),
        ('spend_per_hour', new.currency)) as c (measure, unit)
    where h.holder <> new.created_by
    order by 1, 2, 3, 4, 5
    on conflict (organization_id, holder_type, holder_id, measure, unit) do update set used = quota_usage.used;
  update quota_usage u set used = u.used + m.amount
    from (
      select h.holder, c.measure, c.unit, (h.sign * c.amount)::bigint as amount
      from (
        select sum(case l.claim_kind when 'slot' then 1 else new.gpu_count end) as gpus
        from allocation_resource_claims l where l.allocation_id = new.id and l.released_at is null
      ) as live
        cross join (values (old.owner_user_id, -1), (new.owner_user_id, 1)) as h (holder, sign)
        cross join lateral (values ('allocations', '', 1),
          ('gpus', (select s.gpu_model from sku_catalog s where s.sku = new.sku), live.gpus),
          ('spend_per_hour', new.currency, new.per_gpu_hour_micros * new.gpu_count)) as c (measure, unit, amount)
      where live.gpus > 0 and h.holder <> new.created_by
    ) as m
    where u.organization_id = new.organization_id and u.holder_type = 'user' and u.holder_id = m.holder
      and u.measure = m.measure and u.unit = m.unit;
  return null;
end $$;
create or replace trigger allocations_count_for_owner after update of owner_user_id on allocations for each row
  when (old.owner_user_id is distinct from new.owner_user_id) execute function move_quota_to_owner();
