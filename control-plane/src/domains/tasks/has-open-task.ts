import type { TaskKind } from '@gpuaas/contracts/tasks';
import type { Tx } from '../../platform/db/database.ts';
import type { TaskSubject } from './kinds.ts';
import { OPEN_TASK_STATES } from './states.ts';

/** Whether a host may still finish a task of the kind for the subject. */
export async function hasOpenTask(tx: Tx, subject: TaskSubject, kind: TaskKind, now: Date): Promise<boolean> {
  const open = await tx
    .selectFrom('node_tasks')
    .select('id')
    .where('subject_type', '=', subject.type)
    .where('subject_id', '=', subject.id)
    .where('kind', '=', kind)
    .where('state', 'in', OPEN_TASK_STATES)
    .where('expires_at', '>', now)
    .executeTakeFirst();
  return open !== undefined;
}
