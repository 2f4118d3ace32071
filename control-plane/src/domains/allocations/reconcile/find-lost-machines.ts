import type { Tx } from '../../../platform/db/database.ts';
import type { Services } from '../../../platform/services.ts';
import { isConnected } from '../../fleet/health/connection.ts';
import type { IncidentCondition } from '../../incidents/sync-incidents.ts';

/** Active allocations whose host answers and does not run their machine. */
export async function findLostMachines(services: Services, tx: Tx): Promise<IncidentCondition[]> {
  const rows = await tx
    .selectFrom('allocations as a')
    .innerJoin('nodes as n', 'n.id', 'a.node_id')
    .select(['a.id', 'a.node_id', 'n.hostname', 'n.last_heartbeat_at'])
    .where('a.state', '=', 'active')
    .where('a.desired_state', '=', 'active')
    .where('a.observed_state', '=', 'absent')
    .orderBy('a.id')
    .execute();
  return rows
    .filter((row) => isConnected(services, row.last_heartbeat_at))
    .map((row) => ({
      targetType: 'allocation',
      targetId: row.id,
      summary: `${row.hostname} answers and does not run the machine of an active allocation.`,
      detail: { node_id: row.node_id },
    }));
}
