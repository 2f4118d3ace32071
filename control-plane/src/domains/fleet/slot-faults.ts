import { newId } from '../../platform/ids.ts';
import type { Tx } from '../../platform/db/database.ts';
import { emitSlotsChanged } from './slot-states.ts';

/**
 * Writes what is wrong with the devices of slots into their health; what is over makes them healthy again. A slot that
 * was taken out of sale keeps the last word about it: nobody compares its devices any more.
 */
export async function setDeviceFaults(
  tx: Tx,
  nodeId: string,
  faults: ReadonlyMap<string, string>,
): Promise<void> {
  const rows = await tx
    .selectFrom('node_resource_slots')
    .select(['id', 'device_fault', 'state', 'health_state'])
    .where('node_id', '=', nodeId)
    .where('desired_state', '=', 'for_sale')
    .execute();
  const faultOf = (slotId: string): string | null => faults.get(slotId)?.slice(0, 500) ?? null;
  const changed = rows.filter((row) => {
    const fault = faultOf(row.id);
    // A tenant that came or went has written its own word over ours.
    const hidden = fault !== null && row.health_state !== 'unhealthy';
    return row.device_fault !== fault || hidden;
  });
  for (const row of changed) {
    const fault = faultOf(row.id);
    // Only a quarantine has a graver word about a slot than its devices.
    const health =
      row.state === 'cleanup_blocked'
        ? {}
        : fault
          ? { health_state: 'unhealthy', health_detail: fault }
          : { health_state: 'healthy', health_detail: 'Its devices are as they were approved.' };
    await tx
      .updateTable('node_resource_slots')
      .set({ device_fault: fault, ...health })
      .where('id', '=', row.id)
      .execute();
  }
  if (changed.length > 0) await emitSlotsChanged(tx, nodeId, newId());
}
