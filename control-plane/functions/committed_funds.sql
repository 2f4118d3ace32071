-- plan: by index
-- Hourly commitments of tenants: running and starting leases, and reserved capacity that is unused.
create or replace function committed_funds(tenants uuid[], at timestamptz)
  returns table (organization_id uuid, currency text, running_micros bigint, pending_micros bigint, kept json)
  language plpgsql stable security definer set search_path = pg_catalog, public, pg_temp as $$
#variable_conflict use_column
begin
  -- Runs as the owner, so a tenant may only ask about itself.
  if current_setting('role') = 'gpuaas_tenant' and not tenants <@ scope_organizations() then
    raise exception 'the funds of another tenant' using errcode = 'insufficient_privilege';
  end if;
  return query
    select t.tenant, c.currency, sum(c.running)::bigint, sum(c.pending)::bigint,
      coalesce(json_agg(c.kept) filter (where c.kept is not null), '[]')
    from (select distinct tenant from unnest(tenants) as tenant) as t
      cross join lateral (
        select a.currency,
          coalesce(sum(a.per_gpu_hour_micros * a.gpu_count) filter (where a.state = 'active'), 0) as running,
          coalesce(sum(a.per_gpu_hour_micros * a.gpu_count) filter (where a.state <> 'active'), 0) as pending,
          null::json as kept
        from allocations a
        where a.organization_id = t.tenant and a.state in ('reserved', 'provisioning', 'active')
          and (a.state <> 'active' or a.release_requested_at is null)
        group by 1
        union all
        select u.currency, 0, 0, json_build_object('projectId', u.project_id, 'nodeIds', u.node_ids,
          'perHourMicros', u.per_hour_micros::text)
        from unused_reservations(t.tenant, at) as u
      ) as c
    group by 1, 2;
end $$;
grant execute on function committed_funds(uuid[], timestamptz) to gpuaas_placement, gpuaas_tenant, gpuaas_worker,
  gpuaas_operator;
