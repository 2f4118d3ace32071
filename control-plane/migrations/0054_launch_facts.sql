-- Everything that is looked up before a launch, for many launches in one call. See docs/decisions/0005-reservation.md.

-- What a tenant has and spends, by currency: its balance, the rate of its running leases, and what those have accrued
-- since their last debits. A lease that ends does not spend any more.
create function tenant_funds(tenant uuid, at timestamptz)
  returns table (currency text, balance_micros bigint, per_hour_micros bigint, accrued_micros bigint)
  language sql stable as $$
  select coalesce(r.currency, b.currency), coalesce(b.micros, 0), coalesce(r.rate, 0)::bigint,
    coalesce(r.accrued, 0)::bigint
  from (
    select m.currency, sum(m.per_hour_micros) filter (where a.release_requested_at is null) as rate,
      sum(div(m.per_hour_micros::numeric * greatest(0, floor(extract(epoch from
        least(at, coalesce(a.release_requested_at, at)) - m.started_at)) - m.metered_seconds), 3600)) as accrued
    from allocation_meters m join allocations a on a.id = m.allocation_id
    where m.organization_id = tenant and m.ended_at is null
    group by 1
  ) as r full join (select b.currency, b.micros from balance_snapshots b where b.organization_id = tenant) as b
    on b.currency = r.currency
$$;

-- What was spent of a budget in the month of `at`: usage records of windows that began in it, and what running leases
-- have accrued since.
create function budget_spent(budget budgets, at timestamptz) returns bigint language sql stable as $$
  select (
    coalesce((select sum(u.amount_micros) from usage_records u
      where u.organization_id = budget.organization_id and u.currency = budget.currency
        and u.window_from >= date_trunc('month', at, 'UTC')
        and case budget.scope_type when 'tenant' then true
          when 'project' then u.project_id = budget.scope_id
          when 'user' then u.user_id = budget.scope_id
          else exists (select from team_members t where t.team_id = budget.scope_id and t.user_id = u.user_id) end), 0)
    + coalesce((select sum(div(m.per_hour_micros::numeric * greatest(0, floor(extract(epoch from
          least(at, coalesce(a.release_requested_at, at)) - m.started_at)) - m.metered_seconds), 3600))
      from allocation_meters m join allocations a on a.id = m.allocation_id
      where m.ended_at is null and m.organization_id = budget.organization_id and m.currency = budget.currency
        and case budget.scope_type when 'tenant' then true
          when 'project' then m.project_id = budget.scope_id
          when 'user' then a.owner_user_id = budget.scope_id
          else exists (select from team_members t
            where t.team_id = budget.scope_id and t.user_id = a.owner_user_id) end), 0))::bigint
$$;

-- One row for each that asks, in their order. It reads for callers of many tenants, so it runs as the owner and shows
-- each nothing but its own: the answer to its own key, a live project of its own tenants and what belongs to that, its
-- own SSH keys, and the catalog.
create function launch_facts(asked json, at timestamptz)
  returns table (request_hash bytea, response_status integer, response_body text, response_location text,
    project json, product json, entitled boolean, region_status text, image_digest text, prices json, ssh_keys json,
    budgets json, funds json)
  language plpgsql stable security definer set search_path = pg_catalog, public, pg_temp
  set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off
  as $$
#variable_conflict use_column
begin
  return query
    with ask as materialized (
      select a.*, p.organization_id as tenant, p.name, p.created_at
      from json_to_recordset(asked) as a (place integer, caller_id uuid, user_id uuid, organizations uuid[], key text,
          project_id uuid, sku text, region text, image text, ssh_key_ids uuid[])
        left join projects p on p.id = a.project_id and p.organization_id = any (a.organizations) and p.deleted_at is null
    ), money as materialized (
      select t.tenant, (select json_agg(json_build_object('organizationId', t.tenant, 'currency', f.currency,
          'balanceMicros', f.balance_micros::text, 'perHourMicros', f.per_hour_micros::text,
          'accruedMicros', f.accrued_micros::text))
        from tenant_funds(t.tenant, at) as f) as funds
      from (select distinct ask.tenant from ask where ask.tenant is not null) as t
    )
    select k.request_hash, k.response_status, k.response_body, k.response_location,
      case when a.tenant is not null then json_build_object('id', a.project_id, 'organization_id', a.tenant,
        'name', a.name, 'created_at', a.created_at) end,
      (select row_to_json(s) from sku_catalog s where s.sku = a.sku and s.enabled),
      (select e.entitled from sku_entitlements e where e.organization_id = a.tenant and e.sku = a.sku),
      (select r.status from regions r where r.region = a.region),
      (select i.digest from images i where i.image = a.image),
      (select json_agg(json_build_object('id', b.id, 'organizationId', b.organization_id, 'currency', b.currency,
          'micros', b.per_gpu_hour_micros::text, 'effectiveFrom', b.effective_from, 'effectiveUntil', b.effective_until))
        from (
          select distinct on (c.currency, c.organization_id) c.* from sku_prices c
          where c.sku = a.sku and c.region = a.region and (c.organization_id is null or c.organization_id = a.tenant)
            and c.effective_from <= at and (c.effective_until is null or c.effective_until > at)
          order by c.currency, c.organization_id, c.effective_from desc
        ) as b),
      case when cardinality(a.ssh_key_ids) > 0 then (
        select json_agg(json_build_object('id', h.id, 'public_key', h.public_key)) from ssh_keys h
        where h.id = any (a.ssh_key_ids) and (h.project_id = a.project_id and a.tenant is not null
          or h.user_id = a.caller_id)) end,
      (select json_agg(json_build_object('id', b.id, 'scopeType', b.scope_type, 'currency', b.currency,
          'monthlyMicros', b.monthly_micros::text, 'spentMicros', budget_spent(b, at)::text, 'atCap', b.at_cap)
          order by b.id)
        from budgets b where b.organization_id = a.tenant and b.at_cap <> 'notify' and case b.scope_type
          when 'tenant' then true when 'project' then b.scope_id = a.project_id when 'user' then b.scope_id = a.user_id
          else exists (select from team_members t where t.team_id = b.scope_id and t.user_id = a.user_id) end),
      (select m.funds from money m where m.tenant = a.tenant)
    from ask a left join idempotency_keys k on k.caller_id = a.caller_id and k.key = a.key
    order by a.place;
end $$;
revoke execute on function launch_facts(json, timestamptz) from public;
grant execute on function launch_facts(json, timestamptz) to gpuaas_placement;
