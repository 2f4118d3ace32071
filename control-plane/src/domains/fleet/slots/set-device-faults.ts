import { newId } from '../../../platform/ids.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { emitSlotsChanged } from './transition-slots.ts';

/**
 * Writes device faults into the health of slots; a fault that ended makes the slot healthy again. A slot out
 * of sale keeps its last health, because its devices are no longer compared.
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
    // A launch or release has overwritten the health.
    const hidden = fault !== null && row.health_state !== 'unhealthy';
    return row.device_fault !== fault || hidden;
  });
  for (const row of changed) {
    const fault = faultOf(row.id);
    // Only a quarantine is more serious than a device fault.
    const health =
      row.state === 'cleanup_blocked'
        ? {}
        : fault
          ? ({ health_state: 'unhealthy', health_detail: fault } as const)
          : ({ health_state: 'healthy', health_detail: 'Its devices are as they were approved.' } as const);
    await tx
      .updateTable('node_resource_slots')
      .set({ device_fault: fault, ...health })
      .where('id', '=', row.id)
      .execute();
  }
  if (changed.length > 0) await emitSlotsChanged(tx, nodeId, newId());
}
