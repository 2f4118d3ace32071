import { sql } from 'kysely';
import type { Tx } from '../../../platform/db/database.ts';

/** A heartbeat may have been taken before a machine that it does not list came up. */
export const HEARTBEAT_SETTLE_INTERVAL = '10 seconds';

/**
 * Marks an active allocation as absent if its host does not run its machine, regardless of the desired state.
 */
export async function observeMachines(tx: Tx, nodeId: string, running: string[]): Promise<void> {
  const observed = sql<
    'running' | 'absent'
  >`case when id = any(${running}::uuid[]) then 'running' else 'absent' end`;
  await tx
    .updateTable('allocations')
    .set({ observed_state: observed })
    .where('node_id', '=', nodeId)
    .where('state', '=', 'active')
    .where('active_at', '<', sql<Date>`now() - ${HEARTBEAT_SETTLE_INTERVAL}::interval`)
    .where('observed_state', 'is distinct from', observed)
    .execute();
}
