import type { Tx } from '../../platform/db/database.ts';
import { emit } from '../../platform/events/emit.ts';

/** Emits a task's change of state for operators. */
export async function emitTaskChanged(
  tx: Tx,
  task: { id: string; node_id: string; kind: string; state: string; correlation_id: string },
): Promise<void> {
  await emit(tx, {
    type: 'node.task_changed',
    subjectId: task.id,
    organizationId: null,
    correlationId: task.correlation_id,
    payload: { task_id: task.id, node_id: task.node_id, kind: task.kind, state: task.state },
  });
}
