import { sql } from 'kysely';
import type { Tx } from '../../../platform/db/database.ts';
import type { Services } from '../../../platform/services.ts';
import type { Tick } from '../../../platform/ticks/tick.ts';
import { syncIncidents, type IncidentCondition } from '../../incidents/sync-incidents.ts';

/** A heartbeat reports a started or stopped machine a little later; a longer difference is a fault. */
const SETTLED = '60 seconds';
/** Enough to show the fault; the rest is reported once these are resolved. */
const SHOWN = 200;

/** Compares open meters with the machines that connected hosts report. */
export const reconcileMeters: Tick<Services> = {
  name: 'billing.reconcile_meters',
  everySeconds: 30,
  catchUp: 'skip',
  run: ({ db, clock, policies }) =>
    db.transaction().execute(async (tx) => {
      const now = clock.now();
      const connectedSince = new Date(now.getTime() - policies.get('fleet.unreachable_after_seconds') * 1000);
      await syncIncidents(
        tx,
        now,
        'meter_without_workload',
        await metersWithoutWorkload(tx, now, connectedSince),
        'The machine runs, or the lease is over.',
      );
      await syncIncidents(
        tx,
        now,
        'workload_without_meter',
        await workloadsWithoutMeter(tx, now, connectedSince),
        'The machine is gone, or metered.',
      );
    }),
};

async function metersWithoutWorkload(tx: Tx, now: Date, connectedSince: Date): Promise<IncidentCondition[]> {
  const { rows } = await sql<{ id: string; node_id: string; hostname: string }>`
    select a.id, n.id as node_id, n.hostname from allocation_meters m
      join allocations a on a.id = m.allocation_id join nodes n on n.id = a.node_id
    where m.ended_at is null and a.desired_state = 'active' and a.state = 'active' and a.capacity_shape = 'gpu_slice'
      and a.active_at < ${now}::timestamptz - ${SETTLED}::interval and n.last_heartbeat_at > ${connectedSince}
      and not coalesce(n.observed -> 'vms', '[]') @>
        jsonb_build_array(jsonb_build_object('allocation_id', a.id::text, 'state', 'running'))
    order by a.id limit ${SHOWN}`.execute(tx);
  return rows.map(({ id, node_id, hostname }) => ({
    targetType: 'allocation',
    targetId: id,
    summary: `${hostname} runs no machine for a lease that is metered.`,
    detail: { node_id },
  }));
}

async function workloadsWithoutMeter(tx: Tx, now: Date, connectedSince: Date): Promise<IncidentCondition[]> {
  const { rows } = await sql<{ id: string; node_id: string; hostname: string }>`
    select vm ->> 'allocation_id' as id, n.id as node_id, n.hostname
    from nodes n cross join jsonb_array_elements(coalesce(n.observed -> 'vms', '[]')) vm
      left join allocations a on a.id::text = vm ->> 'allocation_id'
      left join allocation_meters m on m.allocation_id = a.id
    where n.last_heartbeat_at > ${connectedSince} and vm ->> 'state' = 'running'
      and (m.allocation_id is null or m.ended_at < ${now}::timestamptz - ${SETTLED}::interval)
      -- What is being built has no meter yet, and what is being released may still run.
      and coalesce(a.state, 'unknown') not in ('reserved', 'provisioning', 'releasing')
    order by 1, 2 limit ${SHOWN}`.execute(tx);
  return rows.map(({ id, node_id, hostname }) => ({
    targetType: 'allocation',
    targetId: id,
    summary: `${hostname} runs a machine that no lease is billed for.`,
    detail: { node_id },
  }));
}
