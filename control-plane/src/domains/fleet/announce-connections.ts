import type { Selectable } from 'kysely';
import type { Nodes } from '../../platform/db/generated/schema.ts';
import { newId } from '../../platform/ids.ts';
import type { Services } from '../../platform/services.ts';
import { emitNodeChanged } from './node-events.ts';
import { connectionOf } from './reachability.ts';

/** Tells once when a host falls silent, and once when it is back. Each by itself: a heartbeat must not wait for others. */
export async function announceConnections(
  services: Pick<Services, 'db' | 'clock' | 'policies'>,
  nodes: readonly Selectable<Nodes>[],
): Promise<void> {
  for (const node of nodes) {
    const connection = connectionOf(services, node.last_heartbeat_at);
    if (connection === node.announced_connection) continue;
    await services.db.transaction().execute(async (tx) => {
      await tx
        .updateTable('nodes')
        .set({ announced_connection: connection })
        .where('id', '=', node.id)
        .execute();
      await emitNodeChanged(tx, node.id, 'connection_changed', newId());
    });
  }
}
