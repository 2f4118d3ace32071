import { sql } from 'kysely';
import type { Tx } from '@gpuaas/control-plane/platform/db/database';

/** Database state after a release has ended: proof of each wipe, ended claims, free slots, state. */
export async function endLease(tx: Tx, allocationId: string): Promise<void> {
  await sql`
    insert into wipe_certificates (id, allocation_id, slot_id, slot_index, device_serial, method, verified,
      verification, started_at, finished_at, witnessed_by)
    select gen_random_uuid(), a.id, s.id, s.slot_index, s.nvme_serial, 'blkdiscard', true, 'read back', now(), now(),
      a.created_by
    from allocation_resource_claims c join allocations a on a.id = c.allocation_id
      join node_resource_slots s on s.id = c.slot_id or (c.slot_id is null and s.node_id = c.node_id)
    where a.id = ${allocationId} and c.released_at is null`.execute(tx);
  await sql`update allocation_resource_claims set released_at = now()
    where allocation_id = ${allocationId} and released_at is null`.execute(tx);
  await sql`update node_resource_slots s set last_wipe_id = w.id,
      state = case when s.desired_state = 'for_sale' then 'available' else 'disabled' end
    from wipe_certificates w where w.allocation_id = ${allocationId} and s.id = w.slot_id`.execute(tx);
  await sql`update allocations set state = 'released', desired_state = 'released', released_at = now()
    where id = ${allocationId}`.execute(tx);
}
