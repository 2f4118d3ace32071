import { sql } from 'kysely';
import type { Consumer } from '../../platform/events/consumer.ts';
import { findPostures } from '../fleet/health/find-postures.ts';
import type { FleetServices } from '../fleet/needs.ts';
import type { Connection } from '../fleet/health/derive-node-states.ts';

/** What a posture is derived from. */
export type HostViews = Pick<FleetServices, 'db' | 'leases'>;

/** A changed task alone changes neither posture nor slots. */
const ABOUT_HOSTS = new Set(['node.enrolled', 'node.changed', 'node.slots_changed']);

/** Keeps what screens show of hosts and slots up with the log. */
export function nodeOverviewConsumer(hosts: HostViews): Consumer {
  return {
    name: 'read-models.node-overviews',
    startFrom: 'beginning',
    async handle({ envelope }) {
      if (ABOUT_HOSTS.has(envelope.event_type)) {
        await projectNode(hosts, String(envelope.payload['node_id']));
      }
    },
    // Each projection shows the current host, so several events of one host need one read.
    async handleTogether(events) {
      const aboutHosts = events.filter(({ envelope }) => ABOUT_HOSTS.has(envelope.event_type));
      const nodeIds = new Set(aboutHosts.map(({ envelope }) => String(envelope.payload['node_id'])));
      for (const nodeId of nodeIds) await projectNode(hosts, nodeId);
    },
  };
}

/**
 * Projects a host as it is after the event, which only states that it changed: a posture follows from claims,
 * cordons and silence together, and no event carries all of them (docs/decisions/0007-projected-hosts.md).
 */
export async function projectNode(hosts: HostViews, nodeId: string): Promise<void> {
  await hosts.db.transaction().execute(async (tx) => {
    const rows = await tx.selectFrom('nodes').selectAll().where('id', '=', nodeId).execute();
    const posture = (await findPostures(hosts, tx, rows, announced)).get(nodeId)?.posture;
    if (!posture) return;
    const overview = { node_id: nodeId, posture, projected_at: sql<Date>`now()` };
    await tx
      .insertInto('node_overviews')
      .values(overview)
      .onConflict((c) => c.column('node_id').doUpdateSet(overview))
      .execute();
    await sql`
      insert into slot_overviews (slot_id, node_id, state, projected_at)
      select id, node_id, state, now() from node_resource_slots where node_id = ${nodeId} order by id
      on conflict (slot_id) do update set state = excluded.state, projected_at = excluded.projected_at`.execute(
      tx,
    );
  });
}

/** The connection as last announced, so that the same events give the same result. */
function announced(row: { announced_connection: Connection }): Connection {
  return row.announced_connection;
}

/** Projects every host again and deletes rows of hosts that no longer exist. */
export async function projectAllNodes(hosts: HostViews): Promise<number> {
  const { db } = hosts;
  await sql`delete from node_overviews where node_id not in (select id from nodes)`.execute(db);
  await sql`delete from slot_overviews where slot_id not in (select id from node_resource_slots)`.execute(db);
  const nodes = await db.selectFrom('nodes').select('id').orderBy('id').execute();
  for (const { id } of nodes) await projectNode(hosts, id);
  return nodes.length;
}
