import type { Tx } from '../../platform/db/database.ts';
import type { Services } from '../../platform/services.ts';
import { taskTopic, type TaskOutcome } from './complete-task.ts';
import { emitTaskChanged } from './task-events.ts';

/** Ends the open tasks of an allocation and wakes who waits for them; an agent at work on one is fenced. */
export async function withdrawTasks(
  services: Services,
  tx: Tx,
  allocationId: string,
  detail: string,
): Promise<void> {
  const open = await tx
    .selectFrom('node_tasks')
    .selectAll()
    .where('allocation_id', '=', allocationId)
    .where('state', 'in', ['queued', 'claimed'])
    .orderBy('id')
    .forUpdate()
    .execute();
  const error = { code: 'task_withdrawn', detail };
  for (const task of open) {
    await tx
      .updateTable('node_tasks')
      .set({ state: 'expired', error: JSON.stringify(error), finished_at: services.clock.now() })
      .where('id', '=', task.id)
      .execute();
    await emitTaskChanged(tx, { ...task, state: 'expired' });
    const outcome: TaskOutcome = { outcome: 'expired', output: null, error };
    if (task.workflow_id) await services.workflows.signal(tx, task.workflow_id, taskTopic(task.id), outcome);
  }
}
