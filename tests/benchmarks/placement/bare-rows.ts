import { sql } from 'kysely';
import { BATCH_LIMITS } from '@gpuaas/control-plane/domains/allocations/launch/launch-batcher';
import type { LaunchOrder } from '@gpuaas/control-plane/domains/allocations/launch/launch';
import type { Db } from '@gpuaas/control-plane/platform/db/database';
import { Batcher } from '@gpuaas/control-plane/platform/batcher';
import type { Variant } from './clients.ts';

interface BareSlot {
  id: string;
  node_id: string;
}

/**
 * The rows of a reservation and nothing else: allocation, claims with their cells, slot states, audit row, event. No rights,
 * money, quotas, ranking, checks, foreign keys, triggers, workflows or proofs of wipe, and no index but those by which the
 * rows are found again. A design that leaves these rows behind cannot be faster on the same machine.
 */
export async function bareRows(db: Db): Promise<Variant> {
  await prepare(db);
  const { rows } = await sql<BareSlot>`select id, node_id from bare.slots`.execute(db);
  const free = Map.groupBy(rows, ({ node_id }) => node_id);
  const nodes = [...free.values()];
  const sold = new Map<string, BareSlot[]>();

  /** Of the first node that has room. */
  const take = (gpus: number): BareSlot[] => {
    const node = nodes.find((slots) => slots.length >= gpus);
    if (!node) throw new Error('the bare fleet is full');
    return node.splice(0, gpus);
  };
  const selling = new Batcher(async (orders: LaunchOrder[]) => {
    const sales = orders.map(({ allocation, request }) => ({ allocation, slots: take(request.gpus) }));
    const claims = sales.flatMap(({ allocation, slots }) => slots.map(({ id }) => ({ id, allocation })));
    await sql`select bare.sell(${uuids(sales.map(({ allocation }) => allocation.id))}::uuid[],
      ${uuids(sales.map(({ allocation }) => allocation.organization_id))}::uuid[],
      ${uuids(sales.map(({ allocation }) => allocation.project_id))}::uuid[],
      ${uuids(sales.map(({ allocation }) => allocation.created_by))}::uuid[],
      ${uuids(sales.map(({ slots }) => slots[0]!.node_id))}::uuid[],
      ${sales.map(({ slots }) => slots.length)}::smallint[], ${uuids(claims.map(({ id }) => id))}::uuid[],
      ${uuids(claims.map(({ allocation }) => allocation.id))}::uuid[])`.execute(db);
    for (const { allocation, slots } of sales) sold.set(allocation.id, slots);
    return orders.map(({ allocation: { id } }) => ({ kind: 'reserved' as const, allocation: { id } }));
  }, BATCH_LIMITS);
  const releasing = new Batcher(
    async (ids: string[]) => {
      await sql`select bare.release(${uuids(ids)}::uuid[])`.execute(db);
      for (const id of ids) {
        for (const slot of sold.get(id)!) free.get(slot.node_id)!.push(slot);
        sold.delete(id);
      }
      return ids.map(() => undefined);
    },
    { batch: 'releases', size: 64, underWay: 1 },
  );
  return { sell: (order) => selling.submit(order), release: (id) => releasing.submit(id) };
}

function uuids(ids: readonly string[]): string {
  return `{${ids.join(',')}}`;
}

async function prepare(db: Db): Promise<void> {
  await sql`create schema bare`.execute(db);
  await sql`
    create table bare.slots with (fillfactor = 45) as
      select id, node_id, slot_index, 'available'::text as state, bundle from node_resource_slots`.execute(
    db,
  );
  await sql`alter table bare.slots add primary key (id)`.execute(db);
  await sql`create table bare.allocations (like allocations including defaults) with (fillfactor = 60)`.execute(
    db,
  );
  await sql`alter table bare.allocations add primary key (id)`.execute(db);
  await sql`create index on bare.allocations (project_id, id)`.execute(db);
  await sql`create table bare.claims (like allocation_resource_claims including defaults) with (fillfactor = 60)`.execute(
    db,
  );
  await sql`create index on bare.claims (allocation_id)`.execute(db);
  await sql`create table bare.cells (like claim_cells)`.execute(db);
  await sql`alter table bare.cells add primary key (node_id, cell)`.execute(db);
  await sql`create table bare.audit (like audit_logs including defaults)`.execute(db);
  await sql`create index on bare.audit (xid, id)`.execute(db);
  await sql`create table bare.events (like outbox_events including defaults including identity)`.execute(db);
  await sql`create index on bare.events (xid, position)`.execute(db);
  await sql`
    create function bare.sell(ids uuid[], tenants uuid[], projects uuid[], buyers uuid[], nodes uuid[], gpus smallint[],
        taken uuid[], claimants uuid[]) returns void language plpgsql
      set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off
      set enable_seqscan = off as $$
    declare
      claims uuid[] := array(select uuidv7() from unnest(taken));
    begin
      update bare.slots s set state = 'reserved' from unnest(taken) as t (id) where s.id = t.id;
      insert into bare.allocations (id, organization_id, project_id, name, sku, capacity_shape, gpu_count, image,
          image_digest, region, state, node_id, currency, per_gpu_hour_micros, price_id, created_by, owner_user_id,
          correlation_id)
        select s.id, tenant, project, 'bench', 'h200-sxm-slice', 'gpu_slice', count, 'H200-ubuntu-24.04-gpuaas-slice',
          'sha256:0', 'uae-north-1', 'reserved', node, 'USD', 2990000, s.id, buyer, buyer, s.id
        from unnest(ids, tenants, projects, buyers, nodes, gpus) as s (id, tenant, project, buyer, node, count);
      insert into bare.claims (id, allocation_id, node_id, claim_kind, slot_id, snapshot)
        select c.id, c.claimant, s.node_id, 'slot', s.id, s.bundle
        from unnest(claims, taken, claimants) as c (id, slot, claimant) join bare.slots s on s.id = c.slot;
      insert into bare.cells (node_id, cell, claim_id)
        select s.node_id, s.slot_index, c.id
        from unnest(claims, taken) as c (id, slot) join bare.slots s on s.id = c.slot;
      insert into bare.audit (id, actor_user_id, actor_role, action, target_type, target_id, result, correlation_id,
          organization_id, xid)
        select uuidv7(), buyer, 'tenant_member', 'allocation.create', 'allocation', s.id::text, 'succeeded', s.id, tenant, 1
        from unnest(ids, tenants, buyers) as s (id, tenant, buyer);
      insert into bare.events (event_id, event_type, correlation_id, organization_id, subject_id, payload)
        select uuidv7(), 'allocation.reserved', s.id, tenant, s.id, jsonb_build_object('allocation_id', s.id,
          'organization_id', tenant, 'project_id', project, 'state', 'reserved', 'stage', 'placement', 'status', 'done')
        from unnest(ids, tenants, projects) as s (id, tenant, project);
    end $$`.execute(db);
  await sql`
    create function bare.release(ids uuid[]) returns void language plpgsql
      set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off
      set enable_seqscan = off as $$
    declare
      slots uuid[];
    begin
      with ended as (
        update bare.claims c set released_at = now() where c.allocation_id = any (ids) and c.released_at is null
        returning c.slot_id
      ) select array_agg(slot_id) into slots from ended;
      delete from bare.cells e using unnest(slots) as t (id), bare.slots s
        where s.id = t.id and e.node_id = s.node_id and e.cell = s.slot_index;
      update bare.slots s set state = 'available' from unnest(slots) as t (id) where s.id = t.id;
      update bare.allocations a set state = 'released', released_at = now() where a.id = any (ids);
      insert into bare.audit (id, actor_user_id, actor_role, action, target_type, target_id, result, correlation_id,
          organization_id, xid)
        select uuidv7(), a.created_by, 'tenant_member', 'allocation.release', 'allocation', a.id::text, 'succeeded',
          a.id, a.organization_id, 1 from unnest(ids) as r (id) join bare.allocations a on a.id = r.id;
      insert into bare.events (event_id, event_type, correlation_id, organization_id, subject_id, payload)
        select uuidv7(), 'allocation.released', a.id, a.organization_id, a.id, jsonb_build_object('allocation_id', a.id,
          'organization_id', a.organization_id, 'project_id', a.project_id, 'state', 'released')
        from unnest(ids) as r (id) join bare.allocations a on a.id = r.id;
    end $$`.execute(db);
}
