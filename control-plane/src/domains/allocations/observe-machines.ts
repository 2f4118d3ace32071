import { sql } from 'kysely';
import type { Tx } from '../../platform/db/database.ts';

/** A heartbeat may have been written down before the machine it does not name came up. */
export const SETTLED_AFTER = '10 seconds';

/** An active allocation whose machine the host does not run is seen as absent, whatever we wish. */
export async function observeMachines(tx: Tx, nodeId: string, running: string[]): Promise<void> {
  const observed = sql<string>`case when id = any(${running}::uuid[]) then 'running' else 'absent' end`;
  await tx
    .updateTable('allocations')
    .set({ observed_state: observed })
    .where('node_id', '=', nodeId)
    .where('state', '=', 'active')
    .where('active_at', '<', sql<Date>`now() - ${SETTLED_AFTER}::interval`)
    .where('observed_state', 'is distinct from', observed)
    .execute();
}
