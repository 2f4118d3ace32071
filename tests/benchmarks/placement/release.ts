import { sql } from 'kysely';
import { recordAudits } from '@gpuaas/control-plane/platform/audit/record';
import type { Db } from '@gpuaas/control-plane/platform/db/database';
import { emitAll } from '@gpuaas/control-plane/platform/events/emit';
import { auditOf } from './sell.ts';
import { tenant } from './fleet.ts';

/** What stands in the database when releases have ended: proofs of wipe, ended claims, free slots, states, events. */
export async function releaseTogether(db: Db, allocationIds: string[]): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await sql`
      insert into wipe_certificates (id, allocation_id, slot_id, slot_index, device_serial, method, verified,
        verification, started_at, finished_at, witnessed_by)
      select uuidv7(), c.allocation_id, s.id, s.slot_index, s.nvme_serial, 'blkdiscard', true, 'read back', now(),
        now(), ${tenant.userId}
      from allocation_resource_claims c
        join node_resource_slots s on s.id = c.slot_id or (c.slot_id is null and s.node_id = c.node_id)
      where c.allocation_id = any(${allocationIds}::uuid[]) and c.released_at is null`.execute(tx);
    await sql`
      insert into host_cleanups (id, allocation_id, node_id, witnessed_by, method, verified, verification, started_at,
        finished_at)
      select uuidv7(), c.allocation_id, c.node_id, ${tenant.userId}, 'redeploy', true, 'seen', now(), now()
      from allocation_resource_claims c
      where c.allocation_id = any(${allocationIds}::uuid[]) and c.claim_kind = 'node_exclusive'`.execute(tx);
    await sql`update allocation_resource_claims set released_at = now()
      where allocation_id = any(${allocationIds}::uuid[]) and released_at is null`.execute(tx);
    await sql`update node_resource_slots s set state = 'available', last_wipe_id = w.id from wipe_certificates w
      where w.allocation_id = any(${allocationIds}::uuid[]) and s.id = w.slot_id`.execute(tx);
    await sql`update allocations set state = 'released', desired_state = 'released', released_at = now()
      where id = any(${allocationIds}::uuid[])`.execute(tx);
    await recordAudits(
      tx,
      allocationIds.map((id) => auditOf(id, 'allocation.release')),
    );
    await emitAll(
      tx,
      allocationIds.map((id) => ({
        type: 'allocation.released',
        subjectId: id,
        organizationId: tenant.organizationId,
        correlationId: id,
        payload: {
          allocation_id: id,
          organization_id: tenant.organizationId,
          project_id: tenant.projectId,
          state: 'released',
          stage: 'release',
          status: 'done',
          message: 'Released',
          percent: 100,
        },
      })),
    );
  });
}
