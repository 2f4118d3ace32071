import type { Tx } from '../../../platform/db/database.ts';
import { lockNode } from './lock-node.ts';
import { emitNodeChanged } from './node-events.ts';

/** Stops new placements on the host; running machines continue. Draining again updates the reason. */
export async function drainNode(
  tx: Tx,
  nodeId: string,
  reason: string,
  correlationId: string,
): Promise<void> {
  await lockNode(tx, nodeId);
  await tx
    .updateTable('nodes')
    .set({ draining: true, drain_reason: reason })
    .where('id', '=', nodeId)
    .execute();
  await emitNodeChanged(tx, nodeId, 'draining', correlationId);
}

/** Ends the draining. Cordons stay: they have their own causes. */
export async function resumeNode(tx: Tx, nodeId: string, correlationId: string): Promise<void> {
  const node = await lockNode(tx, nodeId);
  if (!node.draining) return;
  await tx
    .updateTable('nodes')
    .set({ draining: false, drain_reason: null })
    .where('id', '=', nodeId)
    .execute();
  await emitNodeChanged(tx, nodeId, 'resumed', correlationId);
}
