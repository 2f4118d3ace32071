import type { Tx } from '../../../platform/db/database.ts';
import type { Services } from '../../../platform/services.ts';
import { isConnected } from '../../fleet/health/connection.ts';
import type { ObservedNode } from '../../fleet/health/record-heartbeat.ts';
import type { IncidentCondition } from '../../incidents/sync-incidents.ts';
import { present } from '../../../platform/present.ts';

/** A heartbeat may have been taken before a release that it does not reflect. */
const SETTLED_MS = 15_000;
const LISTED = 20;

/** Machines and leases in hosts' reports whose allocations hold nothing there. */
export async function findOrphans(services: Services, tx: Tx): Promise<IncidentCondition[]> {
  const nodes = await tx
    .selectFrom('nodes')
    .select(['id', 'hostname', 'last_heartbeat_at', 'observed'])
    .execute();
  const reporting = nodes
    .filter((node) => isConnected(services, node.last_heartbeat_at))
    .map((node) => ({ node, named: namedBy(node.observed) }))
    .filter(({ named }) => named.machines.length + named.leases.length > 0);
  const ids = [...new Set(reporting.flatMap(({ named }) => [...named.machines, ...named.leases]))];
  if (ids.length === 0) return [];
  const claims = await tx
    .selectFrom('allocation_resource_claims')
    .select(['allocation_id', 'node_id', 'released_at'])
    .where('allocation_id', 'in', ids)
    .execute();
  return reporting.flatMap(({ node, named }) => {
    const beat = present(node.last_heartbeat_at, 'last heartbeat').getTime();
    const holds = (allocationId: string): boolean =>
      claims.some(
        (claim) =>
          claim.allocation_id === allocationId &&
          claim.node_id === node.id &&
          (claim.released_at === null || claim.released_at.getTime() > beat - SETTLED_MS),
      );
    const machines = named.machines.filter((id) => !holds(id));
    const leases = named.leases.filter((id) => !holds(id));
    if (machines.length + leases.length === 0) return [];
    return [
      {
        targetType: 'node',
        targetId: node.id,
        summary: `${node.hostname} has ${machines.length} machines and ${leases.length} leases without an owner.`,
        detail: {
          hostname: node.hostname,
          machines: machines.slice(0, LISTED),
          leases: leases.slice(0, LISTED),
        },
      },
    ];
  });
}

function namedBy(observed: ObservedNode): { machines: string[]; leases: string[] } {
  const leases = [
    ...(observed.leases ?? []).map((lease) => lease.allocation_id),
    ...(observed.host_lease ? [observed.host_lease] : []),
  ];
  return {
    machines: (observed.vms ?? []).map((vm) => vm.allocation_id),
    leases: [...new Set(leases)],
  };
}
