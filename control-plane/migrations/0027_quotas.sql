-- What projects and people may hold at a time, and what they hold.

-- Limits that differ from the policies. Platform and tenant each set their own, and the smaller one holds.
create table quota_limits (
  organization_id uuid not null references organizations,
  -- A user's quota counts what the user launched anywhere in the tenant; a service account has one like a user.
  holder_type text not null check (holder_type in ('project', 'user')),
  holder_id uuid not null,
  measure text not null check (measure in ('allocations', 'gpus', 'spend_per_hour')),
  -- The GPU model, or the currency of an amount in micro-units.
  unit text not null,
  set_by text not null check (set_by in ('platform', 'tenant')),
  amount bigint not null check (amount >= 0),
  changed_at timestamptz not null default now(),
  primary key (organization_id, holder_type, holder_id, measure, unit, set_by),
  check ((measure = 'allocations') = (unit = ''))
);

-- Written by the trigger on claims alone, so that no path that takes or gives back capacity can forget it.
create table quota_usage (
  organization_id uuid not null references organizations,
  holder_type text not null,
  holder_id uuid not null,
  measure text not null,
  unit text not null,
  used bigint not null default 0 check (used >= 0),
  primary key (organization_id, holder_type, holder_id, measure, unit)
) with (fillfactor = 50);

-- The same, counted from live claims: what the counters must equal at any moment.
create view claimed_quota with (security_invoker = true) as
  select organization_id, holder_type, holder_id, measure, unit, sum(amount)::bigint as used
  from (
    select a.organization_id, a.project_id, a.created_by, s.gpu_model, a.currency,
      a.per_gpu_hour_micros * a.gpu_count as per_hour,
      sum(case c.claim_kind when 'slot' then 1 else a.gpu_count end) as gpus
    from allocation_resource_claims c
      join allocations a on a.id = c.allocation_id
      join sku_catalog s on s.sku = a.sku
    where c.released_at is null
    group by a.id, s.gpu_model
  ) held
    cross join lateral (values ('project', project_id), ('user', created_by)) as holder (holder_type, holder_id)
    cross join lateral (values ('allocations', '', 1), ('gpus', gpu_model, gpus), ('spend_per_hour', currency, per_hour))
      as counted (measure, unit, amount)
  group by 1, 2, 3, 4, 5;

insert into quota_usage (organization_id, holder_type, holder_id, measure, unit, used) select * from claimed_quota;

-- What these claims count for. An allocation counts with its first claim, and until its last one ends.
create function quota_of_claims(claims uuid[])
  returns table (organization_id uuid, holder_type text, holder_id uuid, measure text, unit text, amount bigint)
  language sql stable as $$
  select organization_id, holder_type, holder_id, measure, unit, sum(amount)::bigint
  from (
    select a.organization_id, a.project_id, a.created_by, s.gpu_model, a.currency,
      a.per_gpu_hour_micros * a.gpu_count as per_hour,
      sum(case c.claim_kind when 'slot' then 1 else a.gpu_count end) as gpus,
      (not exists (
        select from allocation_resource_claims other
        where other.allocation_id = a.id and other.released_at is null and other.id <> all (claims)))::integer as whole
    from allocation_resource_claims c
      join allocations a on a.id = c.allocation_id
      join sku_catalog s on s.sku = a.sku
    where c.id = any (claims)
    group by a.id, s.gpu_model
  ) moved
    cross join lateral (values ('project', project_id), ('user', created_by)) as holder (holder_type, holder_id)
    cross join lateral (values ('allocations', '', whole), ('gpus', gpu_model, gpus),
      ('spend_per_hour', currency, whole * per_hour)) as counted (measure, unit, amount)
  group by 1, 2, 3, 4, 5
$$;

create function count_claims_in_quota() returns trigger
  language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  claims uuid[];
begin
  if tg_op = 'INSERT' then
    claims := array(select id from changed where released_at is null);
    insert into quota_usage as u (organization_id, holder_type, holder_id, measure, unit, used)
      select * from quota_of_claims(claims) order by 1, 2, 3, 4, 5
      on conflict (organization_id, holder_type, holder_id, measure, unit)
        do update set used = u.used + excluded.used;
    return null;
  end if;
  claims := array(select id from changed where released_at is not null);
  -- Rivals that end other claims of the same allocation wait here; the next statement then sees what they did.
  perform from quota_usage u
    where (u.organization_id, u.holder_type, u.holder_id, u.measure, u.unit) in (
      select m.organization_id, m.holder_type, m.holder_id, m.measure, m.unit from quota_of_claims(claims) m)
    order by u.organization_id, u.holder_type, u.holder_id, u.measure, u.unit
    for update;
  update quota_usage u set used = u.used - m.amount from quota_of_claims(claims) m
    where (u.organization_id, u.holder_type, u.holder_id, u.measure, u.unit)
      = (m.organization_id, m.holder_type, m.holder_id, m.measure, m.unit);
  return null;
end $$;
create trigger claims_taken_count_in_quota after insert on allocation_resource_claims
  referencing new table as changed for each statement execute function count_claims_in_quota();
create trigger claims_ended_count_in_quota after update on allocation_resource_claims
  referencing new table as changed for each statement execute function count_claims_in_quota();

-- Counters beside their limits.
create view quota_standing with (security_invoker = true) as
  select u.organization_id, u.holder_type, u.holder_id, u.measure, u.unit, u.used,
    (select l.amount from quota_limits l where l.set_by = 'platform'
      and (l.organization_id, l.holder_type, l.holder_id, l.measure, l.unit)
        = (u.organization_id, u.holder_type, u.holder_id, u.measure, u.unit)) as platform_limit,
    (select l.amount from quota_limits l where l.set_by = 'tenant'
      and (l.organization_id, l.holder_type, l.holder_id, l.measure, l.unit)
        = (u.organization_id, u.holder_type, u.holder_id, u.measure, u.unit)) as tenant_limit
  from quota_usage u;

-- Locks the counters that a launch will move, in one order for everybody, and says what they and their limits are.
-- Counters exist from then on, so that two first launches meet as well.
create function hold_quota_usage(organizations uuid[], holder_types text[], holder_ids uuid[], measures text[],
  units text[])
  returns table (organization_id uuid, holder_type text, holder_id uuid, measure text, unit text, used bigint,
    platform_limit bigint, tenant_limit bigint)
  language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
#variable_conflict use_column
begin
  insert into quota_usage (organization_id, holder_type, holder_id, measure, unit)
    select distinct * from unnest(organizations, holder_types, holder_ids, measures, units)
    order by 1, 2, 3, 4, 5
    on conflict do nothing;
  perform from quota_usage u
    where (u.organization_id, u.holder_type, u.holder_id, u.measure, u.unit) in (
      select * from unnest(organizations, holder_types, holder_ids, measures, units))
    order by u.organization_id, u.holder_type, u.holder_id, u.measure, u.unit
    for update;
  return query select * from quota_standing s
    where (s.organization_id, s.holder_type, s.holder_id, s.measure, s.unit) in (
      select * from unnest(organizations, holder_types, holder_ids, measures, units));
end $$;

revoke execute on function hold_quota_usage(uuid[], text[], uuid[], text[], text[]) from public;
grant execute on function hold_quota_usage(uuid[], text[], uuid[], text[], text[]) to gpuaas_placement;
revoke execute on function quota_of_claims(uuid[]) from public;

grant select, insert, update (amount, changed_at), delete on quota_limits to gpuaas_tenant, gpuaas_operator;
grant select on quota_usage, quota_standing to gpuaas_tenant, gpuaas_operator;
grant select on quota_usage, claimed_quota to gpuaas_worker;

alter table quota_limits enable row level security;
create policy own on quota_limits for select to gpuaas_tenant
  using (organization_id = any ((select scope_organizations())::uuid[]));
create policy own_side on quota_limits to gpuaas_tenant
  using (set_by = 'tenant' and organization_id = any ((select scope_organizations())::uuid[]));
create policy every on quota_limits to gpuaas_operator using (true);

alter table quota_usage enable row level security;
create policy own on quota_usage for select to gpuaas_tenant
  using (organization_id = any ((select scope_organizations())::uuid[]));
create policy every on quota_usage for select to gpuaas_operator, gpuaas_worker using (true);
