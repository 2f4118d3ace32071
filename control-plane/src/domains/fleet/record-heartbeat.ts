import { sql } from 'kysely';
import type { components } from '@gpuaas/contracts/generated/node-openapi.ts';
import type { Tx } from '../../platform/db/database.ts';
import type { Services } from '../../platform/services.ts';
import { leasesSeen, observeLeases, type LeaseSeen } from '../allocations/observe-leases.ts';

export interface Heartbeat {
  boot_id: string;
  agent_version: string;
  agent_time: string;
  leases: { slot_id: string; allocation_id: string }[];
  host_lease?: string | null;
  vms: { allocation_id: string; state: 'running' | 'stopped'; started_at: string }[];
  gpus?: ObservedGpu[];
  disks?: ObservedDisk[];
  clock_offset_ms?: number | null;
}

type ObservedGpu = components['schemas']['ObservedGpu'];
type ObservedDisk = components['schemas']['ObservedDisk'];

/** What the last heartbeat said, as it is kept in `nodes.observed`. */
export type Observed = Partial<
  Pick<Heartbeat, 'agent_time' | 'leases' | 'host_lease' | 'vms' | 'gpus' | 'disks' | 'clock_offset_ms'>
>;

interface Before {
  boot_id: string | null;
  last_heartbeat_at: Date | null;
  observed: Observed;
  leases: LeaseSeen[];
}

/** Keeps what the host says of itself: the observed state, never mixed with what we want. */
export async function recordHeartbeat(
  { clock, policies }: Services,
  tx: Tx,
  nodeId: string,
  heartbeat: Heartbeat,
  certificateSerial: string | null = null,
): Promise<Date> {
  const now = clock.now();
  const { boot_id, agent_version, agent_time, leases, host_lease, vms, gpus, disks, clock_offset_ms } =
    heartbeat;
  const observed: Observed = {
    agent_time,
    leases,
    ...(host_lease ? { host_lease } : {}),
    vms,
    ...(gpus ? { gpus } : {}),
    ...(disks ? { disks } : {}),
    ...(clock_offset_ms === undefined ? {} : { clock_offset_ms }),
  };
  const machines = vms.map((vm) => vm.allocation_id);
  // One statement: a fleet says this a hundred times a second, and the way to the database is most of its price.
  const { rows } = await sql<Before>`
    with before as (select id, boot_id, last_heartbeat_at, observed from nodes where id = ${nodeId}
      -- Not against sales, which keep the node from being drained meanwhile.
      for no key update)
    update nodes set boot_id = ${boot_id}, agent_version = ${agent_version}, last_heartbeat_at = ${now},
      observed = ${JSON.stringify(observed)},
      certificate_serial = coalesce(${certificateSerial}, nodes.certificate_serial)
    from before where nodes.id = before.id
    returning before.boot_id, before.last_heartbeat_at, before.observed, ${leasesSeen(nodeId, machines)} as leases`.execute(
    tx,
  );
  const before = rows[0]!;
  await observeLeases(
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
