import type { Tx } from '../../platform/db/database.ts';
import type { Services } from '../../platform/services.ts';
import { endTask } from './end-task.ts';
import type { TaskSubject } from './kinds.ts';
import { OPEN_TASK_STATES } from './states.ts';

/** Selects all tasks of a subject, or those that one workflow issued. */
export type TaskSelector = { subject: TaskSubject } | { workflowId: string };

/** Ends open tasks and wakes the workflows that wait for them; an agent at work on one is fenced. */
export async function cancelTasks(
  services: Services,
  tx: Tx,
  of: TaskSelector,
  detail: string,
): Promise<void> {
  const open = await tx
    .selectFrom('node_tasks')
    .selectAll()
    .where((e) =>
      'subject' in of
        ? e.and([e('subject_type', '=', of.subject.type), e('subject_id', '=', of.subject.id)])
        : e('workflow_id', '=', of.workflowId),
    )
    .where('state', 'in', OPEN_TASK_STATES)
    .orderBy('id')
    .forUpdate()
    .execute();
  for (const task of open) await endTask(services, tx, task, { code: 'task_withdrawn', detail });
}
