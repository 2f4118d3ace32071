import type { components } from '@gpuaas/contracts/generated/node-openapi.ts';
import type { Tx } from '../../platform/db/database.ts';
import type { Services } from '../../platform/services.ts';
import { observeMachines } from '../allocations/observe-machines.ts';
import { recordOutages } from '../allocations/record-outages.ts';

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

/** Keeps what the host says of itself: the observed state, never mixed with what we want. */
export async function recordHeartbeat(
  { clock, policies }: Services,
  tx: Tx,
  nodeId: string,
  heartbeat: Heartbeat,
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
  const before = await tx
    .selectFrom('nodes')
    .select(['boot_id', 'last_heartbeat_at', 'observed'])
    .where('id', '=', nodeId)
    .forUpdate()
    .executeTakeFirstOrThrow();
  await tx
    .updateTable('nodes')
    .set({
      boot_id,
      agent_version,
      last_heartbeat_at: now,
      observed: JSON.stringify(observed),
    })
    .where('id', '=', nodeId)
    .execute();
  await observeMachines(
    tx,
    nodeId,
    vms.filter((vm) => vm.state === 'running').map((vm) => vm.allocation_id),
  );
  if (before.last_heartbeat_at) {
    await recordOutages(
      tx,
      nodeId,
      {
        at: before.last_heartbeat_at,
        bootId: before.boot_id,
        machines: (before.observed as Observed).vms ?? [],
      },
      { at: now, bootId: boot_id, machines: vms },
      policies.get('fleet.unreachable_after_seconds'),
    );
  }
  return now;
}
