import type { TaskKind } from '@gpuaas/contracts/tasks';
import type { Services } from '../../platform/services.ts';
import { step, waitForSignal } from '../../platform/workflows/definition.ts';
import { taskTopic, type TaskOutcome } from './complete-task.ts';
import { issueTask, type NewTask } from './issue-task.ts';
import { emitTaskChanged } from './task-events.ts';

/**
 * Inside a workflow: issues a task once, waits for its outcome and gives up at the deadline, so that no
 * workflow hangs on a dead host.
 */
export async function runTask<K extends TaskKind>(
  services: Services,
  name: string,
  deadlineSeconds: number,
  build: () => Promise<Omit<NewTask<K>, 'expiresAt'>>,
): Promise<TaskOutcome & { taskId: string }> {
  const taskId = await step(`${name}.issue`, async () => {
    const task = await build();
    const expiresAt = new Date(services.clock.now().getTime() + deadlineSeconds * 1000);
    return await services.db.transaction().execute((tx) => issueTask(tx, { ...task, expiresAt }));
  });
  const outcome = await waitForSignal<TaskOutcome>(taskTopic(taskId), deadlineSeconds + 5);
  if (outcome) return { ...outcome, taskId };
  return { ...(await step(`${name}.expire`, () => expireTask(services, taskId))), taskId };
}

/** Ends a task nobody finished. An outcome that arrived at the last moment stands. */
async function expireTask(services: Services, taskId: string): Promise<TaskOutcome> {
  return await services.db.transaction().execute(async (tx) => {
    const task = await tx
      .selectFrom('node_tasks')
      .selectAll()
      .where('id', '=', taskId)
      .forUpdate()
      .executeTakeFirstOrThrow();
    if (task.state === 'succeeded' || task.state === 'failed') {
      return { outcome: task.state, output: task.output, error: task.error as TaskOutcome['error'] };
    }
    const error = { code: 'task_expired', detail: 'The host did not finish the task before its deadline.' };
    await tx
      .updateTable('node_tasks')
      .set({ state: 'expired', error: JSON.stringify(error), finished_at: services.clock.now() })
      .where('id', '=', taskId)
      .execute();
    await emitTaskChanged(tx, { ...task, state: 'expired' });
    return { outcome: 'expired', output: null, error };
  });
}
