import type { Services } from '../../../platform/services.ts';
import { isConnected } from '../../fleet/health/connection.ts';
import type { IncidentCondition } from '../../incidents/sync-incidents.ts';
import type { ActiveMachine } from './find-lost-machines.ts';

/** Machines of slices that run without the address that was approved for their slot. */
export function findLostNetworks(
  services: Services,
  machines: readonly ActiveMachine[],
): IncidentCondition[] {
  return machines.flatMap((row) => {
    const lease = leaseOf(row);
    if (!lease || lease.lease_state === 'bound' || !isConnected(services, row.last_heartbeat_at)) return [];
    const has = lease.actual_ip === null ? 'has no address' : `has ${lease.actual_ip}`;
    return [
      {
        targetType: 'allocation' as const,
        targetId: row.id,
        summary: `A machine on ${row.hostname} should have ${lease.expected_ip} and ${has}.`,
        detail: { node_id: row.node_id, ...lease },
      },
    ];
  });
}

/** Undefined while nothing is known: the machine is shut down, or the report is older than the machine. */
function leaseOf({ id, capacity_shape, active_at, last_heartbeat_at, observed }: ActiveMachine) {
  if (capacity_shape !== 'gpu_slice' || !active_at || !last_heartbeat_at) return undefined;
  if (last_heartbeat_at <= active_at) return undefined;
  const machine = observed.vms?.find((vm) => vm.allocation_id === id);
  return machine?.state === 'running' ? machine.network : undefined;
}
