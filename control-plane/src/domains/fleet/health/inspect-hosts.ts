import type { Services } from '../../../platform/services.ts';
import type { Tick } from '../../../platform/ticks/tick.ts';
import { newId } from '../../../platform/ids.ts';
import { hostsDue } from '../../tasks/hosts-due.ts';
import type { FleetServices } from '../needs.ts';
import { startDiscovery } from '../topology/discovery.ts';
import { isConnected } from './connection.ts';
import { startReadinessCheck } from './readiness.ts';
import { startReconciliation } from './start-reconciliation.ts';

/** Each inspection has its own due time. */
const INSPECTIONS = [
  { kind: 'slice.prereq_check', start: startReadinessCheck },
  { kind: 'slice.topology_discover', start: startDiscovery },
  { kind: 'slice.reconcile', start: startReconciliation },
] as const;

/** Bounds the tasks that one round adds. */
const HOSTS_PER_ROUND = 20;

/**
 * Inspects every host with slots for sale by the policy's interval and after each boot: prerequisites, devices, and machines
 * against the records. `fleet.reconcile_nodes` acts on the results.
 */
export const inspectHosts: Tick<FleetServices> = {
  name: 'fleet.inspect_hosts',
  everySeconds: 60,
  catchUp: 'skip',
  async run(services) {
    const hosts = await hostsForSale(services);
    for (const { kind, start } of INSPECTIONS) {
      const due = await hostsDue(services.db, kind, hosts);
      for (const nodeId of due.slice(0, HOSTS_PER_ROUND))
        await services.db.transaction().execute((tx) => start(services, tx, nodeId, newId()));
    }
  },
};

async function hostsForSale(services: Services): Promise<{ id: string; freshSince: Date }[]> {
  const { db, clock, policies } = services;
  const interval = policies.get('fleet.inspection_interval_seconds');
  const latest = new Date(clock.now().getTime() - interval * 1000);
  const rows = await db
    .selectFrom('nodes as n')
    .select(['n.id', 'n.booted_at', 'n.last_heartbeat_at'])
    .where('n.mode', '=', 'slice')
    .where((e) =>
      e.exists(
        e
          .selectFrom('node_resource_slots as s')
          .select('s.id')
          .whereRef('s.node_id', '=', 'n.id')
          .where('s.desired_state', '=', 'for_sale'),
      ),
    )
    .where((e) =>
      e.not(
        e.exists(
          e
            .selectFrom('node_conversions as c')
            .select('c.id')
            .whereRef('c.node_id', '=', 'n.id')
            .where('c.state', '=', 'running'),
        ),
      ),
    )
    .orderBy('n.id')
    .execute();
  return rows
    .filter(({ last_heartbeat_at }) => isConnected(services, last_heartbeat_at))
    .map(({ id, booted_at }) => ({
      id,
      freshSince: booted_at !== null && booted_at > latest ? booted_at : latest,
    }));
}
