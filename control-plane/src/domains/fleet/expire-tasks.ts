import type { Services } from '../../platform/services.ts';
import { endTask, overdue } from './end-task.ts';

const AT_ONCE = 200;
/** A workflow ends its own task a few seconds after the deadline; this is for those that nobody waits for any more. */
const LEFT_TO_WORKFLOWS_MS = 15_000;

/** Ends tasks that no host finished in time, so that nothing stays open that no host may take. */
export async function expireTasks(services: Services): Promise<void> {
  const before = new Date(services.clock.now().getTime() - LEFT_TO_WORKFLOWS_MS);
  await services.db.transaction().execute(async (tx) => {
    const tasks = await tx
      .selectFrom('node_tasks')
      .selectAll()
      .where('state', 'in', ['queued', 'claimed'])
      .where('expires_at', '<', before)
      .orderBy('id')
      .limit(AT_ONCE)
      .forUpdate()
      .skipLocked()
      .execute();
    for (const task of tasks) await endTask(services, tx, task, overdue);
  });
}
