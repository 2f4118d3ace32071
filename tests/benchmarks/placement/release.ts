import { sql } from 'kysely';
import type { Db } from '@gpuaas/control-plane/platform/db/database';
import { newId } from '@gpuaas/control-plane/platform/ids';

/** Database state after releases have ended: proofs of wipe, ended claims, free slots, states, events. */
export async function prepareReleases(db: Db): Promise<void> {
  await sql`
    create function bench_release(released uuid[], witness uuid) returns void language plpgsql
      set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off
      set enable_seqscan = off as $$
    declare
      wipes uuid[];
      wiped uuid[];
    begin
      with held as materialized (
        select c.allocation_id, c.node_id, c.slot_id
        from unnest(released) as r (id) join allocation_resource_claims c on c.allocation_id = r.id
        where c.released_at is null
      ), written as (
        insert into wipe_certificates (id, allocation_id, slot_id, slot_index, device_serial, method, verified,
          verification, started_at, finished_at, witnessed_by)
        select uuidv7(), h.allocation_id, s.id, s.slot_index, s.nvme_serial, 'blkdiscard', true, 'read back', now(),
          now(), witness
        from held h cross join lateral (
          select s.id, s.slot_index, s.nvme_serial from node_resource_slots s where s.id = h.slot_id
          union all
          select s.id, s.slot_index, s.nvme_serial from node_resource_slots s
            where h.slot_id is null and s.node_id = h.node_id
        ) as s
        returning id, slot_id
      )
      select array_agg(id), array_agg(slot_id) into wipes, wiped from written;
      insert into host_cleanups (id, allocation_id, node_id, witnessed_by, method, verified, verification, started_at,
          finished_at)
        select uuidv7(), c.allocation_id, c.node_id, witness, 'redeploy', true, 'seen', now(), now()
        from unnest(released) as r (id) join allocation_resource_claims c on c.allocation_id = r.id
        where c.claim_kind = 'node_exclusive';
      update allocation_resource_claims set released_at = now()
        where allocation_id = any (released) and released_at is null;
      update node_resource_slots s set state = 'available', last_wipe_id = w.id
        from unnest(wipes, wiped) as w (id, slot_id) where s.id = w.slot_id;
      update allocations set state = 'released', desired_state = 'released', released_at = now()
        where id = any (released);
      insert into audit_logs (id, actor_user_id, actor_role, action, target_type, target_id, result, correlation_id,
          organization_id)
        select uuidv7(), a.created_by, 'tenant_member', 'allocation.release', 'allocation', a.id::text, 'succeeded',
          a.correlation_id, a.organization_id
        from unnest(released) as r (id) join allocations a on a.id = r.id;
      insert into outbox_events (event_id, event_type, correlation_id, organization_id, subject_id, payload)
        select uuidv7(), 'allocation.released', a.correlation_id, a.organization_id, a.id,
          jsonb_build_object('allocation_id', a.id, 'organization_id', a.organization_id, 'project_id', a.project_id,
            'state', 'released', 'stage', 'release', 'status', 'done', 'message', 'Released', 'percent', 100)
        from unnest(released) as r (id) join allocations a on a.id = r.id;
    end $$`.execute(db);
}

const WITNESS = newId();

export async function releaseTogether(db: Db, allocationIds: string[]): Promise<void> {
  await sql`select bench_release(${allocationIds}::uuid[], ${WITNESS})`.execute(db);
}
