-- The same guards for less: what was asked row by row is asked once for a statement, and nothing is computed twice.

-- One plan for any number of rows, as in 0044_sales_in_groups.sql.
create function plan_once(variadic functions text[]) returns void language plpgsql as $$
declare
  function text;
begin
  foreach function in array functions loop
    execute format('alter function %s set plan_cache_mode = force_generic_plan', function);
    execute format('alter function %s set enable_hashjoin = off', function);
    execute format('alter function %s set enable_mergejoin = off', function);
    execute format('alter function %s set enable_seqscan = off', function);
  end loop;
end $$;

-- Wipes ---------------------------------------------------------------------------------------------------------

-- No path leads to `available` without a verified wipe of the last tenant's data.
drop trigger slots_need_wipe on node_resource_slots;
drop function require_wipe_before_resale();
create function require_wipes_before_resale() returns trigger language plpgsql
  security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  slot uuid;
  tenancy uuid;
begin
  select s.id, last.allocation_id into slot, tenancy
    from changed s cross join lateral (
      select c.allocation_id from allocation_resource_claims c where c.slot_id = s.id
      order by c.created_at desc, c.id desc limit 1) as last
    where s.state = 'available' and not exists (
      select from wipe_certificates w
      where w.id = s.last_wipe_id and w.slot_id = s.id and w.allocation_id = last.allocation_id and w.verified)
    limit 1;
  if found then
    raise exception 'slot % has no verified wipe for allocation %', slot, tenancy using errcode = 'restrict_violation';
  end if;
  return null;
end $$;
create trigger new_slots_need_wipe after insert on node_resource_slots
  referencing new table as changed for each statement execute function require_wipes_before_resale();
create trigger slots_need_wipe after update on node_resource_slots
  referencing new table as changed for each statement execute function require_wipes_before_resale();

-- A certificate cannot go away, and the check above looks it up.
alter table node_resource_slots drop constraint node_resource_slots_last_wipe_id_fkey;

-- Claims --------------------------------------------------------------------------------------------------------

-- A slot that is not of the claim's node gives no cell, and then there are fewer than there should be.
create or replace function take_claim_cells() returns trigger language plpgsql
  security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  due bigint;
  taken bigint;
begin
  insert into claim_cells (node_id, cell, claim_id)
    select c.node_id, s.slot_index, c.id
      from changed c join node_resource_slots s on s.id = c.slot_id
      where c.released_at is null and s.node_id = c.node_id
    union all
    select c.node_id, cell, c.id from changed c, generate_series(0, 15) as cell
      where c.released_at is null and c.claim_kind = 'node_exclusive'
    order by 1, 2;
  get diagnostics taken = row_count;
  select coalesce(sum(case when c.slot_id is null then 16 else 1 end), 0) into due
    from changed c where c.released_at is null;
  if taken <> due or exists (
    select from (select distinct allocation_id, node_id from changed) c where
      (select a.id from allocations a where a.id = c.allocation_id) is null
      or (select n.id from nodes n where n.id = c.node_id) is null
  ) or exists (
    select from changed c where c.released_at is not null and c.slot_id is not null
      and (select s.node_id from node_resource_slots s where s.id = c.slot_id) is distinct from c.node_id
  ) then
    raise exception 'claim names a slot of another node, or what does not exist' using errcode = 'foreign_key_violation';
  end if;
  return null;
end $$;

-- What launches of one launcher in one project count for.
create function quota_counters(project uuid, launcher uuid, gpu_model text, currency text, launches bigint, gpus bigint,
    per_hour bigint)
  returns table (holder_type text, holder_id uuid, measure text, unit text, amount bigint) language sql immutable as $$
  select * from (values ('project', project), ('user', launcher)) as holder (holder_type, holder_id)
    cross join (values ('allocations', '', launches), ('gpus', gpu_model, gpus), ('spend_per_hour', currency, per_hour))
      as counted (measure, unit, amount)
$$;

-- An allocation counts with its first claim, and until its last one ends.
create or replace function count_claims_in_quota() returns trigger language plpgsql
  security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  if tg_op = 'INSERT' then
    insert into quota_usage as u (organization_id, holder_type, holder_id, measure, unit, used)
      select m.organization_id, k.holder_type, k.holder_id, k.measure, k.unit, sum(k.amount)::bigint
      from (
        select a.organization_id, a.project_id, a.created_by, s.gpu_model, a.currency,
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
        group by 1, 2, 3, 4, 5
      ) as m
        cross join lateral quota_counters(m.project_id, m.created_by, m.gpu_model, m.currency, m.launches, m.gpus,
          m.per_hour) as k
      group by 1, 2, 3, 4, 5 order by 1, 2, 3, 4, 5
      on conflict (organization_id, holder_type, holder_id, measure, unit)
        do update set used = u.used + excluded.used;
    return null;
  end if;
  if not exists (select from changed where released_at is not null) then
    return null;
  end if;
  -- In one order for everybody. Rivals that end other claims of the same allocation wait here too; the next statement
  -- then sees what they did.
  perform from (
      select distinct a.organization_id, k.holder_type, k.holder_id, k.measure, k.unit
      from (select distinct c.allocation_id from changed c where c.released_at is not null) as t
        join allocations a on a.id = t.allocation_id
        join sku_catalog s on s.sku = a.sku
        cross join lateral quota_counters(a.project_id, a.created_by, s.gpu_model, a.currency, 0, 0, 0) as k
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
        select a.organization_id, a.project_id, a.created_by, s.gpu_model, a.currency,
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
        group by 1, 2, 3, 4, 5
      ) as m
        cross join lateral quota_counters(m.project_id, m.created_by, m.gpu_model, m.currency, m.launches, m.gpus,
          m.per_hour) as k
      group by 1, 2, 3, 4, 5
    ) as m
    where u.organization_id = m.organization_id and u.holder_type = m.holder_type and u.holder_id = m.holder_id
      and u.measure = m.measure and u.unit = m.unit;
  return null;
end $$;
drop function quota_of_claims(uuid[]);

-- Locks the counters that launches will move, in one order for everybody, and says what they and their limits are. Those
-- that do not exist yet are left out. Each counter is named once.
create or replace function hold_quota_usage(organizations uuid[], holder_types text[], holder_ids uuid[], measures text[],
  units text[])
  returns table (organization_id uuid, holder_type text, holder_id uuid, measure text, unit text, used bigint,
    platform_limit bigint, tenant_limit bigint)
  language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
#variable_conflict use_column
begin
  return query
    select q.organization_id, q.holder_type, q.holder_id, q.measure, q.unit, q.used, l.platform_limit, l.tenant_limit
    from unnest(organizations, holder_types, holder_ids, measures, units) as w (o, t, h, m, u)
      join quota_usage q on q.organization_id = w.o and q.holder_type = w.t and q.holder_id = w.h
        and q.measure = w.m and q.unit = w.u
      cross join lateral (
        select max(l.amount) filter (where l.set_by = 'platform') as platform_limit,
          max(l.amount) filter (where l.set_by = 'tenant') as tenant_limit
        from quota_limits l where l.organization_id = w.o and l.holder_type = w.t and l.holder_id = w.h
          and l.measure = w.m and l.unit = w.u) as l
    order by 1, 2, 3, 4, 5
    for update of q;
end $$;

-- Makes counters, so that two first launches meet as well.
create function open_quota_usage(organizations uuid[], holder_types text[], holder_ids uuid[], measures text[],
  units text[]) returns void
  language sql security definer set search_path = pg_catalog, public, pg_temp as $$
  insert into quota_usage (organization_id, holder_type, holder_id, measure, unit)
    select * from unnest(organizations, holder_types, holder_ids, measures, units)
    order by 1, 2, 3, 4, 5
    on conflict do nothing;
$$;
revoke execute on function open_quota_usage(uuid[], text[], uuid[], text[], text[]) from public;
grant execute on function open_quota_usage(uuid[], text[], uuid[], text[], text[]) to gpuaas_placement;

-- Sales ---------------------------------------------------------------------------------------------------------

-- Most of what allocations name they name together.
create or replace function require_known_references() returns trigger language plpgsql
  security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  closed uuid;
begin
  -- Whoever closes a project holds its row, and this waits for that; the next statement sees what became of it.
  perform from projects p where p.id in (select project_id from changed) order by p.id for key share;
  select c.project_id into closed from (select distinct organization_id, project_id from changed) c where not exists (
    select from projects p
    where p.id = c.project_id and p.organization_id = c.organization_id and p.deleted_at is null) limit 1;
  if found then
    raise exception 'project % is closed', closed using errcode = 'foreign_key_violation';
  end if;
  -- Looked up one by one: behind an `or`, `exists` would read the whole table into a hash.
  if exists (select from (select distinct sku, image, region, price_id from changed) c where
      (select s.sku from sku_catalog s where s.sku = c.sku) is null
      or (select i.image from images i where i.image = c.image) is null
      or (select r.region from regions r where r.region = c.region) is null
      or (select p.id from sku_prices p where p.id = c.price_id) is null
    ) or exists (select from (select distinct node_id, owner_user_id from changed) c where
      (c.node_id is not null and (select n.id from nodes n where n.id = c.node_id) is null)
      or (c.owner_user_id is not null and (select u.id from users u where u.id = c.owner_user_id) is null)
  ) then
    raise exception 'an allocation names something that does not exist' using errcode = 'foreign_key_violation';
  end if;
  return null;
end $$;

-- What is against a node is asked once for the node.
create or replace function lock_free_slots(slots uuid[], patient boolean, silence_seconds integer)
  returns table (slot_id uuid, node_id uuid, mode text, region text, gpu_model text, promises json)
  language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
#variable_conflict use_column
declare
  locked uuid[];
  hosts uuid[];
begin
  if patient then
    select array_agg(l.id), array_agg(distinct l.node_id) into locked, hosts from (
      select s.id, s.node_id from node_resource_slots s join nodes n on n.id = s.node_id
      where s.id = any (slots) order by s.id for update of s for key share of n) as l;
  else
    select array_agg(l.id), array_agg(distinct l.node_id) into locked, hosts from (
      select s.id, s.node_id from node_resource_slots s join nodes n on n.id = s.node_id
      where s.id = any (slots) order by s.id for update of s skip locked for key share of n skip locked) as l;
  end if;
  return query
    with open as materialized (
      select n.id, n.mode, n.region, (
          select json_agg(json_build_object('holder', p.holder_id, 'from', extract(epoch from p.starts_at) * 1000,
            'until', extract(epoch from p.ends_at) * 1000) order by p.id)
          from node_promises p where p.node_id = n.id) as promises
      from unnest(hosts) as host join nodes n on n.id = host
      where not n.draining and n.last_heartbeat_at > now() - make_interval(secs => silence_seconds)
        and not exists (select from node_cordons c where c.node_id = n.id)
    )
    select s.id, s.node_id, n.mode, n.region, s.gpu_model, n.promises
    from unnest(locked) as lock join node_resource_slots s on s.id = lock join open n on n.id = s.node_id
    where s.state = 'available' and s.health_state <> 'unhealthy'
      and s.gpu_pci_address <> '' and s.fabric_vf_pci_address <> '' and s.nvme_serial <> '' and s.nvme_device <> ''
      and s.management_mac <> '' and s.private_ip <> ''
      and s.capacity_metadata ->> 'fabric_claim_mode' = 'per_slot_vf'
      and s.capacity_metadata ->> 'destructive_wipe_policy' <> ''
      and not exists (select from claim_cells e where e.node_id = s.node_id and e.cell = s.slot_index);
end $$;

grant select (occurred_at) on outbox_events to gpuaas_placement, gpuaas_node;
-- Only an event of a transaction with a higher number could stand before this one, and no transaction is a day old: the
-- other months need not be looked at.
create or replace function emit_events(events json) returns void language plpgsql as $$
begin
  insert into outbox_events (event_id, event_type, correlation_id, organization_id, subject_id, payload, xid)
    select e.event_id, e.event_type, e.correlation_id, e.organization_id, e.subject_id, e.payload,
      greatest(pg_current_xact_id(), (
        select o.xid from outbox_events o
        where o.subject_id = e.subject_id and o.xid > pg_current_xact_id()
          and o.occurred_at > now() - interval '1 day' and o.occurred_at < statement_timestamp() + interval '1 day'
        order by o.xid desc limit 1))
    from json_to_recordset(events) as e (event_id uuid, event_type text, correlation_id uuid, organization_id uuid,
      subject_id uuid, payload jsonb);
  if found then
    perform pg_notify('gpuaas_events', '');
  end if;
end $$;

-- All rows of a transaction have one position.
create or replace function record_audits(entries json) returns void language plpgsql as $$
declare
  position bigint := audit_position();
begin
  insert into audit_logs (id, xid, actor_user_id, actor_kind, actor_role, credential_id, ip, action, target_type,
      target_id, result, correlation_id, organization_id, before, after, detail)
    select id, position, actor_user_id, actor_kind, actor_role, credential_id, ip, action, target_type,
      target_id, result, correlation_id, organization_id, before, after, detail
    from json_to_recordset(entries) as e (id uuid, actor_user_id uuid, actor_kind text, actor_role text,
      credential_id text, ip inet, action text, target_type text, target_id text, result text, correlation_id uuid,
      organization_id uuid, before jsonb, after jsonb, detail jsonb);
end $$;

select plan_once('require_wipes_before_resale()', 'take_claim_cells()',
  'count_claims_in_quota()', 'require_known_references()', 'lock_free_slots(uuid[], boolean, integer)',
  'hold_quota_usage(uuid[], text[], uuid[], text[], text[])', 'emit_events(json)', 'record_audits(json)');
drop function plan_once(text[]);
