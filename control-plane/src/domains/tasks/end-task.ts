import type { Selectable } from 'kysely';
import type { Tx } from '../../platform/db/database.ts';
import type { NodeTasks } from '../../platform/db/generated/schema.ts';
import type { Services } from '../../platform/services.ts';
import { taskSignalTopic, type TaskFailure, type TaskOutcome } from './complete-task.ts';
import { emitTaskChanged } from './task-events.ts';

export const taskExpired: TaskFailure = {
  code: 'task_expired',
  detail: 'The host did not finish the task before its deadline.',
};

/** Ends a locked, open task and wakes the workflow that waits for it; an agent at work on it is fenced. */
export async function endTask(
  services: Services,
  tx: Tx,
  task: Selectable<NodeTasks>,
  error: TaskFailure,
): Promise<TaskOutcome> {
  await tx
    .updateTable('node_tasks')
    .set({ state: 'expired', error: JSON.stringify(error), finished_at: services.clock.now() })
    .where('id', '=', task.id)
    .execute();
  await emitTaskChanged(tx, { ...task, state: 'expired' });
  const outcome: TaskOutcome = { outcome: 'expired', output: null, error };
  if (task.workflow_id)
    await services.workflows.signal(tx, task.workflow_id, taskSignalTopic(task.id), outcome);
  return outcome;
}
