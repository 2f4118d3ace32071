import { sql, type RawBuilder } from 'kysely';
import type { Tx } from '../../platform/db/database.ts';
import { observeMachines } from './observe-machines.ts';
import { recordOutages, type HostEvidence, type Machine } from './record-outages.ts';

/** What a host says now: besides its machines, the lease that has the host as a whole. */
export interface HostNow extends HostEvidence {
  machines: readonly (Machine & { state: 'running' | 'stopped' })[];
  hostLease: string | null;
}

/** A lease as it was last seen. */
export interface LeaseSeen {
  id: string;
  active: boolean;
  observed_state: string;
  has_machine: boolean;
  in_outage: boolean;
}

/** The leases that a heartbeat of the host speaks of, for the statement that records it. */
export function leasesSeen(nodeId: string, machines: string[]): RawBuilder<LeaseSeen[]> {
  return sql<LeaseSeen[]>`(select coalesce(json_agg(seen), '[]') from (
    select id, state = 'active' as active, observed_state, capacity_shape = 'gpu_slice' as has_machine,
      exists (select from allocation_outages o where o.allocation_id = a.id and o.ended_at is null) as in_outage
    from allocations a
    where (node_id = ${nodeId} and state = 'active') or id = any(${machines}::uuid[])) as seen)`;
}

/**
 * Holds the leases of a host against what it says of itself. Most heartbeats repeat the one before, and there is
 * nothing to write down.
 */
export async function observeLeases(
  tx: Tx,
  nodeId: string,
  leases: readonly LeaseSeen[],
  before: HostEvidence | null,
  now: HostNow,
  unreachableSeconds: number,
): Promise<void> {
  const silent = before !== null && now.at.getTime() - before.at.getTime() > unreachableSeconds * 1000;
  const there = now.machines.map((machine) => machine.allocation_id);
  const running = now.machines.filter(({ state }) => state === 'running').map((each) => each.allocation_id);
  if (now.hostLease) running.push(now.hostLease);
  const asBefore = (lease: LeaseSeen): boolean =>
    !lease.in_outage &&
    (!lease.active ||
      (lease.observed_state === (running.includes(lease.id) ? 'running' : 'absent') &&
        (!lease.has_machine || there.includes(lease.id))));
  if (!silent && leases.every(asBefore)) return;
  await observeMachines(tx, nodeId, running);
  if (before) await recordOutages(tx, nodeId, before, now, silent);
}
