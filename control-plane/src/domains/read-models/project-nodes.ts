import { sql } from 'kysely';
import type { Consumer } from '../../platform/events/consumer.ts';
import type { Db } from '../../platform/db/database.ts';
import { findPostures } from '../fleet/find-postures.ts';
import type { Connection } from '../fleet/node-four-states.ts';

/** A task that moved changes neither posture nor slots by itself. */
const ABOUT_HOSTS = new Set(['node.enrolled', 'node.changed', 'node.slots_changed']);

/** Keeps what screens show of hosts and slots up with the log. */
export function nodeOverviewConsumer(db: Db): Consumer {
  return {
    name: 'read-models.node-overviews',
    startFrom: 'beginning',
    async handle({ envelope }) {
      if (ABOUT_HOSTS.has(envelope.event_type)) {
        await projectNode(db, String(envelope.payload['node_id']));
      }
    },
    // Each shows the host as it is now, so several events of one host are one look.
    async handleTogether(events) {
      const told = events.filter(({ envelope }) => ABOUT_HOSTS.has(envelope.event_type));
      const nodeIds = new Set(told.map(({ envelope }) => String(envelope.payload['node_id'])));
      for (const nodeId of nodeIds) await projectNode(db, nodeId);
    },
  };
}

/**
 * Shows a host as it is after the event, which says only that it changed: a posture follows from claims, cordons and
 * silence together, and no event carries all of them (docs/decisions/0007-projected-hosts.md).
 */
export async function projectNode(db: Db, nodeId: string): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const rows = await tx.selectFrom('nodes').selectAll().where('id', '=', nodeId).execute();
    const posture = (await findPostures(tx, rows, announced)).get(nodeId)?.posture;
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

/** Silence as it was last told of, so that the same events show the same. */
function announced(row: { announced_connection: string }): Connection {
  return row.announced_connection as Connection;
}

/** Every host anew; rows of hosts that are no more go. */
export async function projectEveryNode(db: Db): Promise<number> {
  await sql`delete from node_overviews where node_id not in (select id from nodes)`.execute(db);
  await sql`delete from slot_overviews where slot_id not in (select id from node_resource_slots)`.execute(db);
  const nodes = await db.selectFrom('nodes').select('id').orderBy('id').execute();
  for (const { id } of nodes) await projectNode(db, id);
  return nodes.length;
}
