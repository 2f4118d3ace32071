import type { Tx } from '../../platform/db/database.ts';
import type { Services } from '../../platform/services.ts';
import { endTask } from './end-task.ts';

/** Whose tasks: all of an allocation, or those that one workflow gave. */
export type TasksOf = { allocationId: string } | { workflowId: string };

/** Ends open tasks and wakes who waits for them; an agent at work on one is fenced. */
export async function withdrawTasks(services: Services, tx: Tx, of: TasksOf, detail: string): Promise<void> {
  const open = await tx
    .selectFrom('node_tasks')
    .selectAll()
    .where((e) =>
      'allocationId' in of ? e('allocation_id', '=', of.allocationId) : e('workflow_id', '=', of.workflowId),
    )
    .where('state', 'in', ['queued', 'claimed'])
    .orderBy('id')
    .forUpdate()
    .execute();
  for (const task of open) await endTask(services, tx, task, { code: 'task_withdrawn', detail });
}
