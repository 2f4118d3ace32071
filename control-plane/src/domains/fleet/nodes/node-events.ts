import type { Tx } from '../../../platform/db/database.ts';
import { emit } from '../../../platform/events/emit.ts';

/** Change of a host, as one word for operators' screens. */
export type NodeChange =
  | 'edited'
  | 'draining'
  | 'resumed'
  | 'burn_in_recorded'
  | 'maintenance_changed'
  | 'cordons_changed'
  | 'connection_changed'
  | 'converted';

export async function emitNodeChanged(
  tx: Tx,
  nodeId: string,
  change: NodeChange,
  correlationId: string,
): Promise<void> {
  await emit(tx, {
    type: 'node.changed',
    subjectId: nodeId,
    organizationId: null,
    correlationId,
    payload: { node_id: nodeId, change },
  });
}
