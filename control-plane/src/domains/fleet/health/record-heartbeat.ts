import { sql } from 'kysely';
import type { components } from '@gpuaas/contracts/generated/node-openapi.ts';
import type { Tx } from '../../../platform/db/database.ts';
import type { ObservedNode, ObservedVm } from '../../../platform/db/stored-types.ts';
import type { FleetServices } from '../needs.ts';
import type { ObservedLease } from './host-report.ts';
import { one } from '../../../platform/db/one.ts';

export interface Heartbeat {
  boot_id: string;
  agent_version: string;
  agent_time: string;
  leases: { slot_id: string; allocation_id: string }[];
  host_lease?: string | null;
  vms: ObservedVm[];
  gpus?: ObservedGpu[];
  disks?: ObservedDisk[];
  clock_offset_ms?: number | null;
}

type ObservedGpu = components['schemas']['ObservedGpu'];
type ObservedDisk = components['schemas']['ObservedDisk'];

export type { ObservedNode };

interface Before {
  boot_id: string | null;
  last_heartbeat_at: Date | null;
  observed: ObservedNode;
  leases: ObservedLease[];
}

/** Stores the host's report: the observed state, never mixed with the desired one. */
export async function recordHeartbeat(
  { clock, policies, leases: observer }: Pick<FleetServices, 'clock' | 'policies' | 'leases'>,
  tx: Tx,
  nodeId: string,
  heartbeat: Heartbeat,
  certificateSerial: string | null = null,
): Promise<Date> {
  const now = clock.now();
  const { boot_id, agent_version, agent_time, leases, host_lease, vms, gpus, disks, clock_offset_ms } =
    heartbeat;
  const observed: ObservedNode = {
    agent_time,
    leases,
    ...(host_lease ? { host_lease } : {}),
    vms,
    ...(gpus ? { gpus } : {}),
    ...(disks ? { disks } : {}),
    ...(clock_offset_ms === undefined ? {} : { clock_offset_ms }),
  };
  const machines = vms.map((vm) => vm.allocation_id);
  // One statement: a fleet sends this a hundred times a second, and the round trip is most of its cost.
  const row = await one(
    sql<Before>`
    with before as (select id, boot_id, last_heartbeat_at, observed from nodes where id = ${nodeId}
      -- Does not conflict with launches, which keep the node from being drained meanwhile.
      for no key update)
    update nodes set boot_id = ${boot_id},
      booted_at = case when before.boot_id is distinct from ${boot_id} then ${now}::timestamptz else nodes.booted_at end,
      agent_version = ${agent_version}, last_heartbeat_at = ${now},
      observed = ${JSON.stringify(observed)},
      certificate_serial = coalesce(${certificateSerial}, nodes.certificate_serial)
    from before where nodes.id = before.id
    returning before.boot_id, before.last_heartbeat_at, before.observed, ${observer.selectObservedLeases(nodeId, machines)} as leases`,
    tx,
  );
  const before = row;
  await observer.recordLeaseObservations(
    tx,
    nodeId,
    before.leases,
    before.last_heartbeat_at && {
      at: before.last_heartbeat_at,
      bootId: before.boot_id,
      machines: before.observed.vms ?? [],
    },
    { at: now, bootId: boot_id, machines: vms, hostLease: host_lease ?? null },
    policies.get('fleet.unreachable_after_seconds'),
  );
  return now;
}
