import type { Selectable } from 'kysely';
import type { Nodes } from '../../../platform/db/generated/schema.ts';
import { newId } from '../../../platform/ids.ts';
import type { Services } from '../../../platform/services.ts';
import { emitNodeChanged } from '../nodes/node-events.ts';
import { connectionOf } from './connection.ts';

/**
 * Emits one event when a host falls silent, and one when it returns. One transaction per host, so that no
 * heartbeat waits for others.
 */
export async function emitConnectionChanges(
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
