-- The minimum balance of a launch counts the launches of the same tenant that are not metered yet.

create index allocations_on_their_way on allocations (organization_id) where state in ('reserved', 'provisioning');

-- What the tenants' launches that are on their way will cost an hour. Until the transaction ends, nobody else decides about
-- their money; the second statement sees what whoever was waited for has committed.
create function hold_funds(tenants uuid[]) returns table (organization_id uuid, currency text, per_hour_micros bigint)
  language plpgsql security definer set search_path = pg_catalog, public, pg_temp
  set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
begin
  perform pg_advisory_xact_lock(hashtextextended('funds ' || tenant, 0))
    from (select distinct tenant from unnest(tenants) as t (tenant) order by 1) as ordered;
  return query
    select a.organization_id, a.currency, sum(a.per_gpu_hour_micros * a.gpu_count)::bigint from allocations a
    where a.organization_id = any (tenants) and a.state in ('reserved', 'provisioning') group by 1, 2;
end $$;
revoke execute on function hold_funds(uuid[]) from public;
grant execute on function hold_funds(uuid[]) to gpuaas_tenant, gpuaas_placement, gpuaas_worker;
