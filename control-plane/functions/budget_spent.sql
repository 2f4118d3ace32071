-- Spending that counts for a budget: leases and app usage.
create or replace function budget_spent(budget budgets, at timestamptz) returns bigint language sql stable as $$
  select (
    coalesce((select sum(u.amount_micros) from usage_records u
      where u.organization_id = budget.organization_id and u.currency = budget.currency
        and u.window_from >= date_trunc('month', at, 'UTC')
        and case budget.scope_type when 'tenant' then true
          when 'project' then u.project_id = budget.scope_id
          when 'user' then u.user_id = budget.scope_id
          else exists (select from team_members t where t.team_id = budget.scope_id and t.user_id = u.user_id) end), 0)
    + coalesce((select sum(r.amount_micros) from app_usage_records r
      where r.organization_id = budget.organization_id and r.currency = budget.currency
        and r.occurred_at >= date_trunc('month', at, 'UTC')
        and case budget.scope_type when 'tenant' then true
          when 'project' then r.project_id = budget.scope_id
          when 'user' then r.user_id = budget.scope_id
          else exists (select from team_members t where t.team_id = budget.scope_id and t.user_id = r.user_id) end), 0)
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
