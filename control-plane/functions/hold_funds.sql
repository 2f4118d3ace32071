create or replace function hold_funds(tenants uuid[])
  returns table (organization_id uuid, currency text, running_micros bigint, pending_micros bigint, kept json)
  language plpgsql security definer set search_path = pg_catalog, public, pg_temp
  set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
begin
  if current_setting('role') = 'gpuaas_tenant' and not tenants <@ scope_organizations() then
    raise exception 'the funds of another tenant' using errcode = 'insufficient_privilege';
  end if;
  perform pg_advisory_xact_lock(hashtextextended('funds ' || tenant, 0))
    from (select distinct tenant from unnest(tenants) as t (tenant) order by 1) as ordered;
  return query select * from committed_funds(tenants, now());
end $$;
revoke execute on function hold_funds(uuid[]), committed_funds(uuid[], timestamptz) from public;
grant execute on function hold_funds(uuid[]) to gpuaas_placement, gpuaas_tenant, gpuaas_worker, gpuaas_operator;
