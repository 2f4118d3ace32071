import { sql, type RawBuilder } from 'kysely';
import type { Tx } from '../../../platform/db/database.ts';
import type { HostObservation, HostReport, ObservedLease } from '../../fleet/health/host-report.ts';
import { observeMachines } from './observe-machines.ts';
import { recordOutages } from './record-outages.ts';

/** SQL for the leases in a heartbeat, for the statement that records it. */
export function selectObservedLeases(nodeId: string, machines: string[]): RawBuilder<ObservedLease[]> {
  return sql<ObservedLease[]>`(select coalesce(json_agg(seen), '[]') from (
    select id, state = 'active' as active, observed_state, capacity_shape = 'gpu_slice' as has_machine,
      exists (select from allocation_outages o where o.allocation_id = a.id and o.ended_at is null) as in_outage
    from allocations a
    where (node_id = ${nodeId} and state = 'active') or id = any(${machines}::uuid[])) as seen)`;
}

/**
 * Compares the leases of a host with its report. Most heartbeats repeat the previous one and need no write.
 */
export async function recordLeaseObservations(
  tx: Tx,
  nodeId: string,
  leases: readonly ObservedLease[],
  before: HostObservation | null,
  now: HostReport,
  unreachableSeconds: number,
): Promise<void> {
  const silent = before !== null && now.at.getTime() - before.at.getTime() > unreachableSeconds * 1000;
  const there = now.machines.map((machine) => machine.allocation_id);
  const running = now.machines.filter(({ state }) => state === 'running').map((each) => each.allocation_id);
  if (now.hostLease) running.push(now.hostLease);
  const asBefore = (lease: ObservedLease): boolean =>
    !lease.in_outage &&
    (!lease.active ||
      (lease.observed_state === (running.includes(lease.id) ? 'running' : 'absent') &&
        (!lease.has_machine || there.includes(lease.id))));
  if (!silent && leases.every(asBefore)) return;
  await observeMachines(tx, nodeId, running);
  if (before) await recordOutages(tx, nodeId, before, now, silent);
}
