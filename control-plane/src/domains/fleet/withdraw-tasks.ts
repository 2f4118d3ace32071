import type { Tx } from '../../platform/db/database.ts';
import type { Services } from '../../platform/services.ts';
import { endTask } from './end-task.ts';

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
  for (const task of open) await endTask(services, tx, task, { code: 'task_withdrawn', detail });
}
