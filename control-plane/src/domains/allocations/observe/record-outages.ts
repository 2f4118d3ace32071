import { sql } from 'kysely';
import type { Tx } from '../../../platform/db/database.ts';
import { newId } from '../../../platform/ids.ts';
import type { HostObservation } from '../../fleet/health/host-report.ts';
import { HEARTBEAT_SETTLE_INTERVAL } from './observe-machines.ts';

/**
 * Compares two consecutive heartbeats and records for each lease on the host the time that was not proven as
 * served. After a silence, the same boot with the same machine proves the time in between; anything else
 * leaves it unproven.
 */
export async function recordOutages(
  tx: Tx,
  nodeId: string,
  before: HostObservation,
  now: HostObservation,
  silent: boolean,
): Promise<void> {
  const there = machinesOn(now);
  await closeOutages(tx, [...there.keys()], now.at);
  if (silent) {
    const known = machinesOn(before);
    const sameBoot = before.bootId === now.bootId;
    const same = [...there].filter(([id, started]) => sameBoot && known.get(id) === started);
    await noteSilence(tx, nodeId, before, now, { there: [...there.keys()], same: same.map(([id]) => id) });
  }
  await noteAbsent(tx, nodeId, [...there.keys()], before, now);
}

/** A machine that its tenant has shut down still holds its devices: it counts as present, running or not. */
function machinesOn({ machines }: HostObservation): Map<string, string> {
  return new Map(machines.map((machine) => [machine.allocation_id, machine.started_at]));
}

async function closeOutages(tx: Tx, there: string[], at: Date): Promise<void> {
  if (there.length === 0) return;
  await sql`update allocation_outages set ended_at = greatest(began_at, ${at}), revision = default
    where allocation_id = any(${there}::uuid[]) and ended_at is null`.execute(tx);
}

/** Leases without a machine (bare metal) are served as long as the host has not rebooted. */
async function noteSilence(
  tx: Tx,
  nodeId: string,
  before: HostObservation,
  now: HostObservation,
  machines: { there: string[]; same: string[] },
): Promise<void> {
  const evidence = JSON.stringify({ boot_id_before: before.bootId, boot_id_after: now.bootId });
  const sameBoot = before.bootId === now.bootId;
  const leases = await sql<{ id: string; served: boolean }>`
    select a.id, case a.capacity_shape
        when 'baremetal' then ${sameBoot}::boolean else a.id = any(${machines.same}::uuid[]) end as served
    from allocations a
    where a.node_id = ${nodeId} and a.active_at is not null and a.active_at < ${now.at}
      and (a.release_requested_at is null or a.release_requested_at > ${before.at})
      and a.state in ('active', 'releasing', 'release_failed')
      -- A machine that is still gone has a lasting outage, recorded below.
      and (a.capacity_shape = 'baremetal' or a.desired_state = 'released'
        or a.id = any(${machines.there}::uuid[]))
      and not exists (select from allocation_outages o where o.allocation_id = a.id
        and (o.ended_at is null or o.ended_at > ${before.at}))
    order by a.id`.execute(tx);
  if (leases.rows.length === 0) return;
  await tx
    .insertInto('allocation_outages')
    .values(
      leases.rows.map(({ id, served }) => ({
        id: newId(),
        allocation_id: id,
        cause: 'host_silent',
        served,
        began_at: before.at,
        ended_at: now.at,
        evidence,
      })),
    )
    .execute();
}

async function noteAbsent(
  tx: Tx,
  nodeId: string,
  there: string[],
  before: HostObservation,
  now: HostObservation,
): Promise<void> {
  const thereBefore = [...machinesOn(before).keys()];
  const { rows } = await sql<{ id: string; began_at: Date }>`
    select a.id, case when a.id = any(${thereBefore}::uuid[]) then greatest(a.active_at, ${before.at})
      else a.active_at end as began_at
    from allocations a
    where a.node_id = ${nodeId} and a.state = 'active' and a.desired_state = 'active'
      and a.capacity_shape = 'gpu_slice' and not a.id = any(${there}::uuid[])
      and a.active_at < ${now.at}::timestamptz - ${HEARTBEAT_SETTLE_INTERVAL}::interval
      and not exists (select from allocation_outages o where o.allocation_id = a.id and o.ended_at is null)
    order by a.id`.execute(tx);
  if (rows.length === 0) return;
  await tx
    .insertInto('allocation_outages')
    .values(
      rows.map(({ id, began_at }) => ({
        id: newId(),
        allocation_id: id,
        cause: 'machine_absent',
        served: false,
        began_at,
        ended_at: null,
        evidence: JSON.stringify({ boot_id: now.bootId }),
      })),
    )
    .execute();
}
