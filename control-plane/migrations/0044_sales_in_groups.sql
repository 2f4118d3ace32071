-- Many launches in one transaction, at a price that hardly depends on how many. See docs/decisions/0005-reservation.md.

-- Functions that are given one row or hundreds. Theirs is one plan for all sizes, through indexes: planning again costs
-- more than most of them do, and a plan that was made for hundreds reads whole tables for one.
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

-- References ----------------------------------------------------------------------------------------------------

-- A foreign key is checked row by row, with a lock on the row it names: fifteen for one sale, most of them on the same
-- few rows of the catalog. Here a whole statement is checked at once. Nothing of what is named can go away.
alter table allocations
  drop constraint allocations_organization_id_project_id_fkey,
  drop constraint allocations_sku_fkey,
  drop constraint allocations_image_fkey,
  drop constraint allocations_region_fkey,
  drop constraint allocations_price_id_fkey,
  drop constraint allocations_node_id_fkey,
  drop constraint allocations_owner_user_id_fkey;
drop trigger allocations_need_live_project on allocations;

create function require_known_references() returns trigger language plpgsql
  security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  closed uuid;
begin
  -- Whoever closes a project holds its row, and this waits for that; the next statement sees what became of it.
  perform from projects p where p.id in (select project_id from changed) order by p.id for key share;
  select c.project_id into closed from changed c where not exists (
    select from projects p
    where p.id = c.project_id and p.organization_id = c.organization_id and p.deleted_at is null) limit 1;
  if found then
    raise exception 'project % is closed', closed using errcode = 'foreign_key_violation';
  end if;
  -- Looked up one by one: behind an `or`, `exists` would read the whole table into a hash.
  if exists (select from changed c where
    (select s.sku from sku_catalog s where s.sku = c.sku) is null
    or (select i.image from images i where i.image = c.image) is null
    or (select r.region from regions r where r.region = c.region) is null
    or (select p.id from sku_prices p where p.id = c.price_id) is null
    or (c.node_id is not null and (select n.id from nodes n where n.id = c.node_id) is null)
    or (c.owner_user_id is not null and (select u.id from users u where u.id = c.owner_user_id) is null)
  ) then
    raise exception 'an allocation names something that does not exist' using errcode = 'foreign_key_violation';
  end if;
  return null;
end $$;
create trigger allocations_name_what_exists after insert on allocations
  referencing new table as changed for each statement execute function require_known_references();

create function require_known_node() returns trigger language plpgsql
  security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  if not exists (select from nodes n where n.id = new.node_id) then
    raise exception 'an allocation names a node that does not exist' using errcode = 'foreign_key_violation';
  end if;
  return null;
end $$;
create trigger allocations_move_to_known_nodes after update of node_id on allocations
  for each row when (new.node_id is not null and new.node_id is distinct from old.node_id)
  execute function require_known_node();

create function keep_what_is_named() returns trigger language plpgsql as $$
begin
  raise exception '% are kept: what was sold names them', tg_table_name using errcode = 'foreign_key_violation';
end $$;
create trigger nodes_are_kept before delete or truncate on nodes
  for each statement execute function keep_what_is_named();
create trigger slots_are_kept before delete or truncate on node_resource_slots
  for each statement execute function keep_what_is_named();
create trigger allocations_are_kept before delete or truncate on allocations
  for each statement execute function keep_what_is_named();
create trigger projects_are_kept before delete or truncate on projects
  for each statement execute function keep_what_is_named();
create trigger users_are_kept before delete or truncate on users
  for each statement execute function keep_what_is_named();
create trigger products_are_kept before delete or truncate on sku_catalog
  for each statement execute function keep_what_is_named();
create trigger images_are_kept before delete or truncate on images
  for each statement execute function keep_what_is_named();
create trigger regions_are_kept before delete or truncate on regions
  for each statement execute function keep_what_is_named();

-- The same for claims: allocation, node and slot are looked up where the cells are taken.
alter table allocation_resource_claims
  drop constraint allocation_resource_claims_allocation_id_fkey,
  drop constraint allocation_resource_claims_node_id_fkey,
  drop constraint allocation_resource_claims_slot_id_fkey;

drop policy own on allocation_resource_claims;
create policy own on allocation_resource_claims for insert to gpuaas_placement
  with check ((select a.id from allocations a where a.id = allocation_id) is not null);

create or replace function take_claim_cells() returns trigger language plpgsql
  security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  if exists (select from changed c where
    (select a.id from allocations a where a.id = c.allocation_id) is null
    or (select n.id from nodes n where n.id = c.node_id) is null
    or (c.slot_id is not null
      and (select s.node_id from node_resource_slots s where s.id = c.slot_id) is distinct from c.node_id)
  ) then
    raise exception 'claim names a slot of another node, or what does not exist' using errcode = 'foreign_key_violation';
  end if;
  insert into claim_cells (node_id, cell, claim_id)
    select c.node_id, s.slot_index, c.id
      from changed c join node_resource_slots s on s.id = c.slot_id
      where c.released_at is null
    union all
    select c.node_id, cell, c.id from changed c, generate_series(0, 15) as cell
      where c.released_at is null and c.claim_kind = 'node_exclusive'
    order by 1, 2;
  return null;
end $$;

-- Quotas --------------------------------------------------------------------------------------------------------

-- What these claims count for. An allocation counts with its first claim, and until its last one ends.
create or replace function quota_of_claims(claims uuid[])
  returns table (organization_id uuid, holder_type text, holder_id uuid, measure text, unit text, amount bigint)
  language sql stable as $$
  select organization_id, holder_type, holder_id, measure, unit, sum(amount)::bigint
  from (
    select a.organization_id, a.project_id, a.created_by, s.gpu_model, a.currency,
      a.per_gpu_hour_micros * a.gpu_count as per_hour,
      sum(case c.claim_kind when 'slot' then 1 else a.gpu_count end) as gpus,
      (count(*) filter (where c.released_at is null) = (
        select count(*) from allocation_resource_claims every
        where every.allocation_id = a.id and every.released_at is null))::integer as whole
    from unnest(claims) as claim
      join allocation_resource_claims c on c.id = claim
      join allocations a on a.id = c.allocation_id
      join sku_catalog s on s.sku = a.sku
    group by a.id, s.gpu_model
  ) moved
    cross join lateral (values ('project', project_id), ('user', created_by)) as holder (holder_type, holder_id)
    cross join lateral (values ('allocations', '', whole), ('gpus', gpu_model, gpus),
      ('spend_per_hour', currency, whole * per_hour)) as counted (measure, unit, amount)
  group by 1, 2, 3, 4, 5
$$;

-- Locks the counters that launches will move, in one order for everybody, and says what they and their limits are.
-- Counters exist from then on, so that two first launches meet as well. Each counter is named once.
create or replace function hold_quota_usage(organizations uuid[], holder_types text[], holder_ids uuid[], measures text[],
  units text[])
  returns table (organization_id uuid, holder_type text, holder_id uuid, measure text, unit text, used bigint,
    platform_limit bigint, tenant_limit bigint)
  language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
#variable_conflict use_column
begin
  insert into quota_usage (organization_id, holder_type, holder_id, measure, unit)
    select w.* from unnest(organizations, holder_types, holder_ids, measures, units) as w (o, t, h, m, u)
    where not exists (select from quota_usage q
      where q.organization_id = w.o and q.holder_type = w.t and q.holder_id = w.h and q.measure = w.m and q.unit = w.u)
    order by 1, 2, 3, 4, 5
    on conflict do nothing;
  return query
    select q.organization_id, q.holder_type, q.holder_id, q.measure, q.unit, q.used,
      (select l.amount from quota_limits l where l.set_by = 'platform' and l.organization_id = w.o
        and l.holder_type = w.t and l.holder_id = w.h and l.measure = w.m and l.unit = w.u),
      (select l.amount from quota_limits l where l.set_by = 'tenant' and l.organization_id = w.o
        and l.holder_type = w.t and l.holder_id = w.h and l.measure = w.m and l.unit = w.u)
    from unnest(organizations, holder_types, holder_ids, measures, units) as w (o, t, h, m, u)
      join quota_usage q on q.organization_id = w.o and q.holder_type = w.t and q.holder_id = w.h
        and q.measure = w.m and q.unit = w.u
    order by 1, 2, 3, 4, 5
    for update of q;
end $$;

-- What placement reads again ------------------------------------------------------------------------------------

-- Most changes are sales and releases, which move states and claims; then the rest of the node need not be read again.
alter table placement_changes add column facts boolean not null default true;

create function note_sales_for_placement() returns trigger language plpgsql
  security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  insert into placement_changes (node_id, facts) select distinct node_id, false from changed on conflict do nothing;
  return null;
end $$;
create or replace function note_placement_changes() returns trigger language plpgsql
  security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  insert into placement_changes (node_id) select distinct node_id from changed
    on conflict (xid, node_id) do update set facts = true;
  return null;
end $$;
create or replace function note_placement_change() returns trigger language plpgsql
  security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  insert into placement_changes (node_id) values (new.id) on conflict (xid, node_id) do update set facts = true;
  return null;
end $$;
create function note_slot_facts() returns trigger language plpgsql
  security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  insert into placement_changes (node_id) values (new.node_id) on conflict (xid, node_id) do update set facts = true;
  return null;
end $$;

drop trigger claims_tell_placement on allocation_resource_claims;
drop trigger claim_changes_tell_placement on allocation_resource_claims;
drop trigger slot_changes_tell_placement on node_resource_slots;
create trigger claims_tell_placement after insert on allocation_resource_claims
  referencing new table as changed for each statement execute function note_sales_for_placement();
create trigger claim_changes_tell_placement after update on allocation_resource_claims
  referencing new table as changed for each statement execute function note_sales_for_placement();
create trigger slot_changes_tell_placement after update on node_resource_slots
  referencing new table as changed for each statement execute function note_sales_for_placement();
create trigger slot_facts_tell_placement after update on node_resource_slots for each row
  when ((old.node_id, old.slot_index, old.gpu_model, old.gpu_pci_address, old.fabric_vf_pci_address, old.nvme_serial,
      old.nvme_device, old.management_mac, old.private_ip, old.numa_node, old.pcie_root, old.capacity_metadata)
    is distinct from
    (new.node_id, new.slot_index, new.gpu_model, new.gpu_pci_address, new.fabric_vf_pci_address, new.nvme_serial,
      new.nvme_device, new.management_mac, new.private_ip, new.numa_node, new.pcie_root, new.capacity_metadata))
  execute function note_slot_facts();

-- The nodes that transactions changed which the snapshot `since` does not see and `known` does not name: their states and
-- leases as bits of slots, and whether anything else of them changed. One row without a node if there are none. What this
-- transaction has changed itself is left out: it may yet be rolled back, and counts as new until a look sees it.
create function placement_news(since pg_snapshot, known xid8[], suspects uuid[])
  returns table (snapshot text, node_id uuid, facts boolean, available integer, unhealthy integer, leases json)
  language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
#variable_conflict use_column
begin
  return query
    select seen.snapshot::text, n.node_id, n.facts, s.available, s.unhealthy, l.leases
    from (select pg_current_snapshot() as snapshot) as seen
      left join lateral (
        select news.node_id, bool_or(news.facts) as facts from (
          select p.node_id, p.facts from placement_changes p
          where p.xid >= pg_snapshot_xmin(since) and not pg_visible_in_snapshot(p.xid, since)
            and p.xid <> all (known) and p.xid is distinct from pg_current_xact_id_if_assigned()
          union all select suspect, true from unnest(suspects) as suspect
        ) as news group by 1
      ) as n on true
      left join lateral (
        select coalesce(bit_or(1 << s.slot_index) filter (where s.state = 'available'), 0) as available,
          coalesce(bit_or(1 << s.slot_index) filter (where s.health_state = 'unhealthy'), 0) as unhealthy
        from node_resource_slots s where s.node_id = n.node_id
      ) as s on true
      left join lateral (
        select json_agg(json_build_array(lease.slots, lease.ends_at)) as leases from (
          select bit_or(1 << e.cell) as slots, extract(epoch from max(c.ends_at)) * 1000 as ends_at
          from claim_cells e join allocation_resource_claims c on c.id = e.claim_id
          where e.node_id = n.node_id
          group by c.allocation_id
        ) as lease
      ) as l on true;
end $$;
revoke execute on function placement_news(pg_snapshot, xid8[], uuid[]) from public;
grant execute on function placement_news(pg_snapshot, xid8[], uuid[]) to gpuaas_placement;

-- Locks and checks ----------------------------------------------------------------------------------------------

-- Those of the slots that may be sold now, locked with their nodes. Locking re-reads a row that a rival has changed, but
-- not the rows beside it: the second statement reads those again, after the locks, and what is promised is for the caller
-- to judge. With `patient` it waits behind rivals, else it leaves out what they hold.
create function lock_free_slots(slots uuid[], patient boolean, silence_seconds integer)
  returns table (slot_id uuid, node_id uuid, mode text, region text, gpu_model text, promises json)
  language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
#variable_conflict use_column
declare
  locked uuid[];
begin
  if patient then
    locked := array(select s.id from node_resource_slots s join nodes n on n.id = s.node_id
      where s.id = any (slots) order by s.id for update of s for key share of n);
  else
    locked := array(select s.id from node_resource_slots s join nodes n on n.id = s.node_id
      where s.id = any (slots) order by s.id for update of s skip locked for key share of n skip locked);
  end if;
  return query
    select s.id, s.node_id, n.mode, n.region, s.gpu_model, (
        select json_agg(json_build_object('holder', p.holder_id, 'from', extract(epoch from p.starts_at) * 1000,
          'until', extract(epoch from p.ends_at) * 1000) order by p.id)
        from node_promises p where p.node_id = s.node_id)
    from node_resource_slots s join nodes n on n.id = s.node_id
    where s.id = any (locked)
      and s.state = 'available' and s.health_state <> 'unhealthy'
      and s.gpu_pci_address <> '' and s.fabric_vf_pci_address <> '' and s.nvme_serial <> '' and s.nvme_device <> ''
      and s.management_mac <> '' and s.private_ip <> ''
      and s.capacity_metadata ->> 'fabric_claim_mode' = 'per_slot_vf'
      and s.capacity_metadata ->> 'destructive_wipe_policy' <> ''
      and not n.draining and n.last_heartbeat_at > now() - make_interval(secs => silence_seconds)
      and not exists (select from node_cordons c where c.node_id = s.node_id)
      and not exists (select from claim_cells e where e.node_id = s.node_id and e.cell = s.slot_index);
end $$;
revoke execute on function lock_free_slots(uuid[], boolean, integer) from public;
grant execute on function lock_free_slots(uuid[], boolean, integer) to gpuaas_placement;

-- Writing -------------------------------------------------------------------------------------------------------

-- What a host must know of a slot, as it is when it is sold.
create function slot_bundle(slot node_resource_slots) returns jsonb language sql stable
  return jsonb_build_object('slot_id', slot.id, 'slot_index', slot.slot_index, 'gpu_pci_address', slot.gpu_pci_address,
    'fabric_vf_pci_address', slot.fabric_vf_pci_address, 'nvme_serial', slot.nvme_serial,
    'nvme_device', slot.nvme_device, 'management_mac', slot.management_mac, 'private_ip', slot.private_ip,
    'ovs_port', slot.ovs_port, 'numa_node', slot.numa_node);

-- Allocations of one transaction, whose time it answers with.
create function insert_allocations(sold json) returns timestamptz language plpgsql as $$
begin
  insert into allocations (id, organization_id, project_id, name, sku, capacity_shape, gpu_count, image, image_digest,
    region, state, node_id, ends_at, currency, per_gpu_hour_micros, price_id, created_by, owner_user_id,
    ssh_authorized_keys, correlation_id)
  select id, organization_id, project_id, name, sku, capacity_shape, gpu_count, image, image_digest,
    region, 'reserved', node_id, ends_at, currency, per_gpu_hour_micros, price_id, created_by, owner_user_id,
    ssh_authorized_keys, correlation_id
  from json_to_recordset(sold) as a (id uuid, organization_id uuid, project_id uuid, name text, sku text,
    capacity_shape text, gpu_count smallint, image text, image_digest text, region text, node_id uuid,
    ends_at timestamptz, currency text, per_gpu_hour_micros bigint, price_id uuid, created_by uuid, owner_user_id uuid,
    ssh_authorized_keys text[], correlation_id uuid);
  return now();
end $$;

-- Takes slots that the transaction has locked while they were for sale, and claims them. A claim without a slot is one on
-- the whole node of its allocation.
create function claim_slots(taken uuid[], claims uuid[], claimants uuid[], slots uuid[]) returns void
  language plpgsql as $$
declare
  found_free integer;
begin
  update node_resource_slots set state = 'reserved' where id = any (taken) and state = 'available';
  get diagnostics found_free = row_count;
  if found_free <> cardinality(taken) then
    raise exception 'a slot was taken that was not for sale';
  end if;
  insert into allocation_resource_claims (id, allocation_id, node_id, claim_kind, slot_id, ends_at, snapshot)
    select c.id, a.id, a.node_id, case when c.slot_id is null then 'node_exclusive' else 'slot' end, c.slot_id, a.ends_at,
      case when c.slot_id is null
        then jsonb_build_object('slots', (select jsonb_agg(slot_bundle(s) order by s.slot_index)
          from node_resource_slots s where s.node_id = a.node_id and s.id = any (taken)))
        else (select slot_bundle(s) from node_resource_slots s where s.id = c.slot_id) end
    from unnest(claims, claimants, slots) as c (id, allocation_id, slot_id)
      join allocations a on a.id = c.allocation_id;
end $$;

-- Many events, in their order. An event never stands before an earlier one of its subject.
create function emit_events(events json) returns void language plpgsql as $$
begin
  insert into outbox_events (event_id, event_type, correlation_id, organization_id, subject_id, payload, xid)
    select e.event_id, e.event_type, e.correlation_id, e.organization_id, e.subject_id, e.payload,
      greatest(pg_current_xact_id(),
        (select o.xid from outbox_events o where o.subject_id = e.subject_id order by o.xid desc limit 1))
    from json_to_recordset(events) as e (event_id uuid, event_type text, correlation_id uuid, organization_id uuid,
      subject_id uuid, payload jsonb);
  if found then
    perform pg_notify('gpuaas_events', '');
  end if;
end $$;

-- Many workflows of one kind; the same id twice is one workflow.
create function start_workflows(kind text, starts json) returns void language plpgsql as $$
begin
  insert into workflow_starts (workflow_id, name, input)
    select s.workflow_id, kind, s.input from json_to_recordset(starts) as s (workflow_id text, input jsonb)
    on conflict (workflow_id) do nothing;
  if found then
    perform pg_notify('gpuaas_workflow_starts', '');
  end if;
end $$;

create function record_audits(entries json) returns void language plpgsql as $$
begin
  insert into audit_logs (id, actor_user_id, actor_kind, actor_role, credential_id, ip, action, target_type, target_id,
      result, correlation_id, organization_id, before, after, detail)
    select id, actor_user_id, actor_kind, actor_role, credential_id, ip, action, target_type, target_id,
      result, correlation_id, organization_id, before, after, detail
    from json_to_recordset(entries) as e (id uuid, actor_user_id uuid, actor_kind text, actor_role text,
      credential_id text, ip inet, action text, target_type text, target_id text, result text, correlation_id uuid,
      organization_id uuid, before jsonb, after jsonb, detail jsonb);
end $$;

-- What sells to many writes their audit rows too.
grant insert on audit_logs to gpuaas_placement;
create policy own_sales on audit_logs for insert to gpuaas_placement
  with check (organization_id = any ((select scope_organizations())::uuid[]));

select plan_once('require_known_references()', 'take_claim_cells()', 'vacate_claim_cells()',
  'count_claims_in_quota()', 'respect_promises()', 'note_placement_changes()', 'note_sales_for_placement()',
  'hold_quota_usage(uuid[], text[], uuid[], text[], text[])', 'placement_news(pg_snapshot, xid8[], uuid[])',
  'lock_free_slots(uuid[], boolean, integer)', 'insert_allocations(json)',
  'claim_slots(uuid[], uuid[], uuid[], uuid[])', 'emit_events(json)', 'start_workflows(text, json)',
  'record_audits(json)');
drop function plan_once(text[]);
