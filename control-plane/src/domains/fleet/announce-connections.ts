import type { Selectable } from 'kysely';
import type { Tx } from '../../platform/db/database.ts';
import type { Nodes } from '../../platform/db/generated/schema.ts';
import { newId } from '../../platform/ids.ts';
import { emitNodeChanged } from './node-events.ts';
import { connectionOf, type Observer } from './reachability.ts';

/** Tells once when a host falls silent, and once when it is back. */
export async function announceConnections(
  observer: Observer,
  tx: Tx,
  nodes: readonly Selectable<Nodes>[],
): Promise<void> {
  for (const node of nodes) {
    const connection = connectionOf(observer, node.last_heartbeat_at);
    if (connection === node.announced_connection) continue;
    await tx
      .updateTable('nodes')
      .set({ announced_connection: connection })
      .where('id', '=', node.id)
      .execute();
    await emitNodeChanged(tx, node.id, 'connection_changed', newId());
  }
}
