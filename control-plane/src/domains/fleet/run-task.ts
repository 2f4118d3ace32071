import type { TaskKind } from '@gpuaas/contracts/tasks';
import type { Tx } from '../../platform/db/database.ts';
import type { Services } from '../../platform/services.ts';
import { step, waitForSignal } from '../../platform/workflows/definition.ts';
import { taskTopic, type TaskOutcome } from './complete-task.ts';
import { endTask, overdue } from './end-task.ts';
import { issueTask, type NewTask } from './issue-task.ts';

export type TaskToIssue = { [K in TaskKind]: Omit<NewTask<K>, 'expiresAt'> }[TaskKind];

/** The steps that `runTask` takes under a name. */
export function taskSteps(name: string): string[] {
  return [`${name}.issue`, `${name}.expire`];
}

/**
 * Inside a workflow: issues a task once, waits for its outcome and gives up at the deadline, so that no
 * workflow hangs on a dead host. `build` decides in the transaction that issues it, and returns null when nobody
 * wants the task any more.
 */
export async function runTask(
  services: Services,
  name: string,
  deadlineSeconds: number,
  build: (tx: Tx) => Promise<TaskToIssue | null>,
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
    if (task.state === 'succeeded' || task.state === 'failed' || task.state === 'expired') {
      return { outcome: task.state, output: task.output, error: task.error as TaskOutcome['error'] };
    }
    // Nobody has to be woken: the one who waited is asking.
    return await endTask(services, tx, { ...task, workflow_id: null }, overdue);
  });
}
