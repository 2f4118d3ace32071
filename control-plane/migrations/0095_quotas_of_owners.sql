-- What a service account launches belongs to its owner, and counts for the owner's quotas and budgets too.

-- `quota_counters` counts for the owner of a service account too; its function has a new argument.
drop function quota_counters(uuid, uuid, text, text, bigint, bigint, bigint);
create or replace view claimed_quota with (security_invoker = true) as
  select organization_id, holder_type, holder_id, measure, unit, sum(amount)::bigint as used
  from (
    select a.organization_id, a.project_id, a.created_by, nullif(a.owner_user_id, a.created_by) as owner, s.gpu_model,
      a.currency, a.per_gpu_hour_micros * a.gpu_count as per_hour,
      sum(case c.claim_kind when 'slot' then 1 else a.gpu_count end) as gpus
    from allocation_resource_claims c
      join allocations a on a.id = c.allocation_id
      join sku_catalog s on s.sku = a.sku
    where c.released_at is null
    group by a.id, s.gpu_model
  ) held
    cross join lateral (values ('project', project_id), ('user', created_by), ('user', owner))
      as holder (holder_type, holder_id)
    cross join lateral (values ('allocations', '', 1), ('gpus', gpu_model, gpus), ('spend_per_hour', currency, per_hour))
      as counted (measure, unit, amount)
  where holder_id is not null
  group by 1, 2, 3, 4, 5;

-- What they run already.
update allocations a set owner_user_id = s.owner_user_id from service_accounts s
  where a.created_by = s.id and a.owner_user_id is null and s.owner_user_id is not null
    and a.state not in ('released', 'failed');

-- Owners of service accounts are counted from here on.
insert into quota_usage (organization_id, holder_type, holder_id, measure, unit, used)
  select organization_id, holder_type, holder_id, measure, unit, used from claimed_quota
  on conflict (organization_id, holder_type, holder_id, measure, unit) do update set used = excluded.used;
