import { newId } from '@gpuaas/control-plane/platform/ids';
import { seedAllocation } from '../../benchmarks/seed-allocation.ts';
import type { TestApi } from '../api.ts';

/** Quarantines an approved slot under an allocation whose cleanup got stuck. */
export async function blockSlot(
  { services, people }: TestApi,
  nodeId: string,
  slotId: string,
  state: 'release_failed' | 'failed',
): Promise<string> {
  const { db } = services;
  const allocationId = await seedAllocation(db, people['member']!);
  await db
    .updateTable('allocations')
    .set({ node_id: nodeId, state, execution_state: 'idle', desired_state: 'released' })
    .where('id', '=', allocationId)
    .execute();
  const slot = await db
    .selectFrom('node_resource_slots')
    .selectAll()
    .where('id', '=', slotId)
    .executeTakeFirstOrThrow();
  const snapshot = { slot_id: slot.id, slot_index: slot.slot_index, nvme_serial: slot.nvme_serial };
  await db
    .insertInto('allocation_resource_claims')
    .values({
      id: newId(),
      allocation_id: allocationId,
      node_id: nodeId,
      claim_kind: 'slot',
      slot_id: slotId,
      snapshot: JSON.stringify(snapshot),
    })
    .execute();
  await db
    .updateTable('node_resource_slots')
    .set({ state: 'cleanup_blocked', health_state: 'unhealthy', health_detail: 'No proof.' })
    .where('id', '=', slotId)
    .execute();
  return allocationId;
}
