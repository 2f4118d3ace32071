import type { TaskKind } from '@gpuaas/contracts/tasks';
import type { Tx } from '../../platform/db/database.ts';
import type { Services } from '../../platform/services.ts';
import { step, waitForSignal } from '../../platform/workflows/definition.ts';
import { taskSignalTopic, type TaskOutcome } from './complete-task.ts';
import { endTask, taskExpired } from './end-task.ts';
import { issueTask, type NewTask } from './issue-task.ts';

/** What a host is asked to do. */
export type TaskWork = { [K in TaskKind]: Pick<NewTask<K>, 'kind' | 'params'> }[TaskKind];

export type TaskRequest = { [K in TaskKind]: Omit<NewTask<K>, 'expiresAt'> }[TaskKind];

/** Names of the workflow steps of `runTask`. */
export function taskSteps(name: string): string[] {
  return [`${name}.issue`, `${name}.expire`];
}

/**
 * Inside a workflow: issues a task once, waits for its outcome and gives up at the deadline, so that no
 * workflow hangs on a dead host. `build` decides in the transaction that issues the task, and returns null if
 * the task is no longer needed.
 */
export async function runTask(
  services: Services,
  name: string,
  deadlineSeconds: number,
  build: (tx: Tx) => Promise<TaskRequest | null>,
): Promise<(TaskOutcome & { taskId: string }) | null> {
  const taskId = await step(`${name}.issue`, () =>
    services.db.transaction().execute(async (tx) => {
      const task = await build(tx);
      if (!task) return null;
      const expiresAt = new Date(services.clock.now().getTime() + deadlineSeconds * 1000);
      return await issueTask(tx, { ...task, expiresAt });
    }),
  );
  if (taskId === null) return null;
  const outcome = await waitForSignal<TaskOutcome>(taskSignalTopic(taskId), deadlineSeconds + 5);
  if (outcome) return { ...outcome, taskId };
  return { ...(await step(`${name}.expire`, () => expireTask(services, taskId))), taskId };
}

/** Ends an unfinished task. An outcome that arrived at the last moment counts. */
async function expireTask(services: Services, taskId: string): Promise<TaskOutcome> {
  return await services.db.transaction().execute(async (tx) => {
    const task = await tx
      .selectFrom('node_tasks')
      .selectAll()
      .where('id', '=', taskId)
      .forUpdate()
      .executeTakeFirstOrThrow();
    if (task.state === 'succeeded' || task.state === 'failed' || task.state === 'expired') {
      return { outcome: task.state, output: task.output, error: task.error };
    }
    // No workflow needs a wake-up: the waiting one is calling.
    return await endTask(services, tx, { ...task, workflow_id: null }, taskExpired);
  });
}
