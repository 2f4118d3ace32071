import type { Services } from '../../platform/services.ts';
import { endTask, taskExpired } from './end-task.ts';
import { OPEN_TASK_STATES } from './states.ts';

const BATCH = 200;
/** A workflow ends its own task a few seconds after the deadline; this covers tasks without a waiting workflow. */
const LEFT_TO_WORKFLOWS_MS = 15_000;

/** Ends tasks past their deadline, so that no task stays open that no host may take. */
export async function expireTasks(services: Services): Promise<void> {
  const before = new Date(services.clock.now().getTime() - LEFT_TO_WORKFLOWS_MS);
  await services.db.transaction().execute(async (tx) => {
    const tasks = await tx
      .selectFrom('node_tasks')
      .selectAll()
      .where('state', 'in', OPEN_TASK_STATES)
      .where('expires_at', '<', before)
      .orderBy('id')
      .limit(BATCH)
      .forUpdate()
      .skipLocked()
      .execute();
    for (const task of tasks) await endTask(services, tx, task, taskExpired);
  });
}
