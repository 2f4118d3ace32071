-- plan: by index
-- `offset 0` keeps the look-up of each key separate: a plan made for few keys read all of them.
create or replace function launch_facts(asked json, at timestamp with time zone)
 RETURNS TABLE(request_hash bytea, response_status integer, response_body text, response_location text, project json, product json, entitled boolean, region_status text, image_digest text, prices json, ssh_keys json, budgets json, funds json)
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
#variable_conflict use_column
begin
  return query
    with ask as materialized (
      select a.*, p.organization_id as tenant, p.name, p.created_at
      from json_to_recordset(asked) as a (place integer, caller_id uuid, user_id uuid, organizations uuid[], key text,
          project_id uuid, sku text, region text, image text, ssh_key_ids uuid[])
        left join projects p on p.id = a.project_id and p.organization_id = any (a.organizations) and p.deleted_at is null
    ), money as materialized (
      select t.tenant, (select json_agg(json_build_object('organizationId', t.tenant, 'currency', coalesce(f.currency, c.currency),
          'balanceMicros', coalesce(f.balance_micros, 0)::text, 'perHourMicros', coalesce(f.per_hour_micros, 0)::text,
          'accruedMicros', coalesce(f.accrued_micros, 0)::text, 'paid', coalesce(f.paid, false),
          'runningMicros', coalesce(c.per_hour_micros, 0)::text, 'pendingMicros', '0', 'kept', coalesce(c.kept, '[]')))
        from tenant_funds(t.tenant, at) as f
          full join committed_at_most(t.tenant, at) as c on c.currency = f.currency) as funds
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
    from ask a left join lateral (
      select i.* from idempotency_keys i where i.caller_id = a.caller_id and i.key = a.key offset 0) as k on true
    order by a.place;
end $function$;
