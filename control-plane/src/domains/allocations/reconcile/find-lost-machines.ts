import type { Tx } from '../../../platform/db/database.ts';
import type { Services } from '../../../platform/services.ts';
import { isConnected } from '../../fleet/health/connection.ts';
import type { IncidentCondition } from '../../incidents/sync-incidents.ts';

export type ActiveMachine = Awaited<ReturnType<typeof readActiveMachines>>[number];

/** Active allocations that nobody has released, with the latest report of their host. */
export async function readActiveMachines(tx: Tx) {
  return await tx
    .selectFrom('allocations as a')
    .innerJoin('nodes as n', 'n.id', 'a.node_id')
    .select(['a.id', 'a.node_id', 'a.capacity_shape', 'a.active_at', 'a.observed_state'])
    .select(['n.hostname', 'n.last_heartbeat_at', 'n.observed'])
    .where('a.state', '=', 'active')
    .where('a.desired_state', '=', 'active')
    .orderBy('a.id')
    .execute();
}

/** Machines that their host answers without running. */
export function findLostMachines(
  services: Services,
  machines: readonly ActiveMachine[],
): IncidentCondition[] {
  return machines
    .filter((row) => row.observed_state === 'absent' && isConnected(services, row.last_heartbeat_at))
    .map((row) => ({
      targetType: 'allocation',
      targetId: row.id,
      summary: `${row.hostname} answers and does not run the machine of an active allocation.`,
      detail: { node_id: row.node_id },
    }));
}
