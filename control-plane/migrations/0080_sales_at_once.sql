-- A group of sales in one statement, and fewer index entries for what a lease writes on its way. See
-- docs/decisions/0005-reservation.md.

-- Slots ---------------------------------------------------------------------------------------------------------

-- What a host must know of a slot is put together when the slot changes, not with every sale.
create function slot_bundle(id uuid, slot_index smallint, gpu_pci_address text, fabric_vf_pci_address text,
    nvme_serial text, nvme_device text, management_mac text, private_ip text, ovs_port text, numa_node smallint)
  returns jsonb language sql immutable
  return jsonb_build_object('slot_id', id, 'slot_index', slot_index, 'gpu_pci_address', gpu_pci_address,
    'fabric_vf_pci_address', fabric_vf_pci_address, 'nvme_serial', nvme_serial, 'nvme_device', nvme_device,
    'management_mac', management_mac, 'private_ip', private_ip, 'ovs_port', ovs_port, 'numa_node', numa_node);
-- States change all the time and no index names them: with room on its page a new version needs no index entry.
alter table node_resource_slots set (fillfactor = 45);
alter table node_resource_slots add column bundle jsonb not null generated always as (slot_bundle(id, slot_index,
  gpu_pci_address, fabric_vf_pci_address, nvme_serial, nvme_device, management_mac, private_ip, ovs_port, numa_node)) stored;

-- Claims on slots that the transaction has taken. One without a slot is on the whole node of its allocation.
create function insert_claims(taken uuid[], claims uuid[], claimants uuid[], slots uuid[]) returns void
  language plpgsql as $$
begin
  insert into allocation_resource_claims (id, allocation_id, node_id, claim_kind, slot_id, ends_at, snapshot)
    select c.id, a.id, a.node_id, case when c.slot_id is null then 'node_exclusive' else 'slot' end, c.slot_id, a.ends_at,
      case when c.slot_id is null
        then jsonb_build_object('slots', (select jsonb_agg(s.bundle order by s.slot_index)
          from node_resource_slots s where s.node_id = a.node_id and s.id = any (taken)))
        else (select s.bundle from node_resource_slots s where s.id = c.slot_id) end
    from unnest(claims, claimants, slots) as c (id, allocation_id, slot_id)
      join allocations a on a.id = c.allocation_id;
end $$;
create or replace function claim_slots(taken uuid[], claims uuid[], claimants uuid[], slots uuid[]) returns void
  language plpgsql as $$
declare
  found_free integer;
begin
  update node_resource_slots set state = 'reserved' where id = any (taken) and state = 'available';
  get diagnostics found_free = row_count;
  if found_free <> cardinality(taken) then
    raise exception 'a slot was taken that was not for sale';
  end if;
  perform insert_claims(taken, claims, claimants, slots);
end $$;
drop function slot_bundle(node_resource_slots);

-- Claims --------------------------------------------------------------------------------------------------------

-- The live claims of a node stand in its cells. An index of them made every end of a claim write to all indexes, and was
-- taken for the index of allocations by plans that were made while there were few claims.
drop index allocation_resource_claims_live;
alter table allocation_resource_claims set (fillfactor = 60);
alter table allocations set (fillfactor = 60);
grant select (id) on allocation_resource_claims to gpuaas_placement;
grant select on claim_cells to gpuaas_operator, gpuaas_worker, gpuaas_placement;
create policy every on claim_cells for select to gpuaas_operator, gpuaas_worker, gpuaas_placement using (true);

-- Wipes ---------------------------------------------------------------------------------------------------------

-- Slots are kept, so whether they exist is asked once, when they are named, and for all of them together.
alter table wipe_certificates drop constraint wipe_certificates_slot_id_fkey;
create function require_wiped_slots() returns trigger language plpgsql
  security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  if exists (select from (select distinct slot_id from written) w
      where (select s.id from node_resource_slots s where s.id = w.slot_id) is null) then
    raise exception 'a wipe names a slot that does not exist' using errcode = 'foreign_key_violation';
  end if;
  return null;
end $$;
create trigger wipes_name_known_slots after insert on wipe_certificates
  referencing new table as written for each statement execute function require_wiped_slots();

-- Sales ---------------------------------------------------------------------------------------------------------

drop function insert_allocations(json);
-- `at` is when the sale was decided, by this database's clock.
create function insert_allocations(sold json, at timestamptz default now()) returns timestamptz language plpgsql as $$
begin
  insert into allocations (id, organization_id, project_id, name, sku, capacity_shape, gpu_count, image, image_digest,
    region, state, node_id, ends_at, currency, per_gpu_hour_micros, price_id, created_by, owner_user_id,
    ssh_authorized_keys, tags, correlation_id, created_at, state_changed_at)
  select id, organization_id, project_id, name, sku, capacity_shape, gpu_count, image, image_digest,
    region, 'reserved', node_id, ends_at, currency, per_gpu_hour_micros, price_id, created_by, owner_user_id,
    ssh_authorized_keys, tags, correlation_id, at, at
  from json_to_recordset(sold) as a (id uuid, organization_id uuid, project_id uuid, name text, sku text,
    capacity_shape text, gpu_count smallint, image text, image_digest text, region text, node_id uuid,
    ends_at timestamptz, currency text, per_gpu_hour_micros bigint, price_id uuid, created_by uuid, owner_user_id uuid,
    ssh_authorized_keys text[], tags text[], correlation_id uuid);
  return at;
end $$;

-- Everything that a sold machine needs is named, as in domains/placement/slot-rules.ts.
create function is_complete(slot node_resource_slots) returns boolean language sql immutable
  return btrim((slot).gpu_pci_address) <> '' and btrim((slot).fabric_vf_pci_address) <> ''
    and btrim((slot).nvme_serial) <> '' and btrim((slot).nvme_device) <> '' and btrim((slot).management_mac) <> ''
    and btrim((slot).private_ip) <> '' and (slot).capacity_metadata ->> 'fabric_claim_mode' = 'per_slot_vf'
    and btrim((slot).capacity_metadata ->> 'destructive_wipe_policy') <> '';

create or replace function lock_free_slots(slots uuid[], patient boolean, silence_seconds integer)
 RETURNS TABLE(slot_id uuid, node_id uuid, mode text, region text, gpu_model text, promises json)
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
 SET plan_cache_mode TO 'force_generic_plan'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
 SET enable_seqscan TO 'off'
AS $$
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
      and is_complete(s)
      and not exists (select from claim_cells e where e.node_id = s.node_id and e.cell = s.slot_index);
end $$;

create or replace function hold_funds(tenants uuid[])
 RETURNS TABLE(organization_id uuid, currency text, per_hour_micros bigint)
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
 SET plan_cache_mode TO 'force_generic_plan'
AS $$
#variable_conflict use_column
begin
  -- It runs as the owner; a tenant asks for its own.
  if current_setting('role') = 'gpuaas_tenant' and not tenants <@ scope_organizations() then
    raise exception 'the funds of another tenant' using errcode = 'insufficient_privilege';
  end if;
  perform pg_advisory_xact_lock(hashtextextended('funds ' || tenant, 0))
    from (select distinct tenant from unnest(tenants) as t (tenant) order by 1) as ordered;
  return query
    select a.organization_id, a.currency, sum(a.per_gpu_hour_micros * a.gpu_count)::bigint from allocations a
    where a.organization_id = any (tenants) and a.state in ('reserved', 'provisioning') group by 1, 2;
end $$;

-- Takes what a group of sales was decided to cost, if everything it was decided from still holds, and keeps it until the
-- transaction ends: money and quotas first, in one order for everybody, then slots, where rivals are stepped around. What
-- does not hold any more fails the sale as a whole; whoever asked then decides with care.
create function hold_for_sale(funds json, quotas json, hosts json, taken uuid[], models text[], silence_seconds integer)
  returns void language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  wanted bigint;
  held bigint;
  broken boolean;
begin
  if json_array_length(funds) > 0 then
    perform pg_advisory_xact_lock(hashtextextended('funds ' || tenant, 0))
      from (select distinct f.tenant from json_to_recordset(funds) as f (tenant uuid) order by 1) as ordered;
    select bool_or(f.asked + coalesce((
        select sum(a.per_gpu_hour_micros * a.gpu_count) from allocations a
        where a.organization_id = f.tenant and a.currency = f.currency and a.state in ('reserved', 'provisioning')), 0)
        > f.most) into broken
      from json_to_recordset(funds) as f (tenant uuid, currency text, asked bigint, most bigint);
    if broken then raise exception 'the money does not cover the sale' using errcode = 'GS001'; end if;
  end if;

  -- The platform's quota, or the policy's in its place; the tenant's where it is smaller.
  select count(*), bool_or(h.used + h.asked > least(coalesce(h.platform_limit, h.most), h.tenant_limit))
    into held, broken from (
      select q.used, w.asked, w.most, l.platform_limit, l.tenant_limit
      from json_to_recordset(quotas) as w (o uuid, t text, h uuid, m text, u text, asked bigint, most bigint)
        join quota_usage q on q.organization_id = w.o and q.holder_type = w.t and q.holder_id = w.h
          and q.measure = w.m and q.unit = w.u
        cross join lateral (
          select max(l.amount) filter (where l.set_by = 'platform') as platform_limit,
            max(l.amount) filter (where l.set_by = 'tenant') as tenant_limit
          from quota_limits l where l.organization_id = w.o and l.holder_type = w.t and l.holder_id = w.h
            and l.measure = w.m and l.unit = w.u) as l
      order by q.organization_id, q.holder_type, q.holder_id, q.measure, q.unit
      for update of q) as h;
  if broken or held <> json_array_length(quotas) then
    raise exception 'a quota does not allow the sale' using errcode = 'GS001';
  end if;

  -- Locks on nodes and slots first: what they are is read by later statements, which see what rivals have committed.
  perform from (
    select n.id from json_to_recordset(hosts) as h (id uuid) join nodes n on n.id = h.id
    for key share of n skip locked) as locked;
  get diagnostics held = row_count;
  wanted := json_array_length(hosts);
  if held = wanted then
    perform from (select s.id from unnest(taken) as t join node_resource_slots s on s.id = t
      for update of s skip locked) as locked;
    get diagnostics held = row_count;
    wanted := cardinality(taken);
  end if;
  if held <> wanted then raise exception 'somebody else is at a slot' using errcode = 'GS001'; end if;

  select count(*) into held from json_to_recordset(hosts) as h (id uuid, mode text, region text)
    join nodes n on n.id = h.id
    where n.mode = h.mode and n.region = h.region and not n.draining
      and n.last_heartbeat_at > now() - make_interval(secs => silence_seconds)
      and not exists (select from node_cordons c where c.node_id = n.id);
  if held <> json_array_length(hosts) then
    raise exception 'a node is not for sale any more' using errcode = 'GS001';
  end if;
  update node_resource_slots s set state = 'reserved'
    from unnest(taken, models) as t (id, gpu_model)
    where s.id = t.id and s.gpu_model = t.gpu_model
      and s.state = 'available' and s.health_state <> 'unhealthy' and is_complete(s);
  get diagnostics held = row_count;
  if held <> cardinality(taken) then raise exception 'a slot is not for sale any more' using errcode = 'GS001'; end if;
end $$;

-- A group of sales as it was decided: all of it, or an error. Nobody keeps others waiting for longer than a moment.
create function sell(funds json, quotas json, hosts json, taken uuid[], models text[], silence_seconds integer, sold json,
    at timestamptz, claims uuid[], claimants uuid[], claimed uuid[], events json, workflow text, starts json, audits json,
    answers json) returns text
  language plpgsql security definer set search_path = pg_catalog, public, pg_temp set lock_timeout = '250ms' as $$
declare
  tenants uuid[] := array(select distinct s.organization_id from json_to_recordset(sold) as s (organization_id uuid));
begin
  -- It runs as the owner, and still writes for nobody but those it sells to.
  if cardinality(tenants) = 0
    or exists (select from json_to_recordset(audits) as a (organization_id uuid)
      where (a.organization_id = any (tenants)) is not true)
    or exists (select from json_to_recordset(events) as e (organization_id uuid) where e.organization_id <> all (tenants))
  then
    raise exception 'a sale tells of somebody else' using errcode = 'insufficient_privilege';
  end if;
  perform hold_for_sale(funds, quotas, hosts, taken, models, silence_seconds);
  perform insert_allocations(sold, at);
  perform insert_claims(taken, claims, claimants, claimed);
  perform emit_events(events);
  perform start_workflows(workflow, starts);
  perform record_audits(audits);
  perform keep_answers(answers);
  return pg_current_xact_id()::text;
end $$;
revoke execute on function hold_for_sale(json, json, json, uuid[], text[], integer) from public;
revoke execute on function sell(json, json, json, uuid[], text[], integer, json, timestamptz, uuid[], uuid[], uuid[], json,
  text, json, json, json) from public;
grant execute on function sell(json, json, json, uuid[], text[], integer, json, timestamptz, uuid[], uuid[], uuid[], json,
  text, json, json, json) to gpuaas_placement;

-- One plan for any number of rows, as in 0044_sales_in_groups.sql.
do $$
declare
  function text;
begin
  foreach function in array array['require_wiped_slots()', 'insert_allocations(json, timestamptz)',
    'insert_claims(uuid[], uuid[], uuid[], uuid[])', 'claim_slots(uuid[], uuid[], uuid[], uuid[])',
    'hold_for_sale(json, json, json, uuid[], text[], integer)'] loop
    execute format('alter function %s set plan_cache_mode = force_generic_plan', function);
    execute format('alter function %s set enable_hashjoin = off', function);
    execute format('alter function %s set enable_mergejoin = off', function);
    execute format('alter function %s set enable_seqscan = off', function);
  end loop;
end $$;

-- Facts ---------------------------------------------------------------------------------------------------------

-- `offset 0` keeps the look-up of a key one of its own: a plan made while there were few keys read all of them.
create or replace function launch_facts(asked json, at timestamp with time zone)
 RETURNS TABLE(request_hash bytea, response_status integer, response_body text, response_location text, project json, product json, entitled boolean, region_status text, image_digest text, prices json, ssh_keys json, budgets json, funds json)
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
 SET plan_cache_mode TO 'force_generic_plan'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
 SET enable_seqscan TO 'off'
AS $$
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
    from ask a left join lateral (
      select i.* from idempotency_keys i where i.caller_id = a.caller_id and i.key = a.key offset 0) as k on true
    order by a.place;
end $$;
