import type { Selectable } from 'kysely';
import type { TaskKind } from '@gpuaas/contracts/tasks';
import type { Db, Tx } from '../../platform/db/database.ts';
import { given } from '../../platform/db/given.ts';
import type { NodeTasks } from '../../platform/db/generated/schema.ts';

export type TaskRow = Selectable<NodeTasks>;

/** Tasks of one kind for one host. */
export interface TasksOfKind {
  nodeId: string;
  kind: TaskKind;
}

export async function findTask(db: Db | Tx, of: TasksOfKind, taskId: string): Promise<TaskRow | undefined> {
  return await ofKind(db, of).where('id', '=', taskId).executeTakeFirst();
}

/** Newest first, starting after `after`. */
export async function findTasks(
  db: Db | Tx,
  of: TasksOfKind,
  { after, limit }: { after?: string; limit: number },
): Promise<TaskRow[]> {
  return await ofKind(db, of)
    .$call(given(after, (q, value) => q.where('id', '<', value)))
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
}

/** The newest task with any outcome. */
export async function findLatestTask(db: Db | Tx, of: TasksOfKind): Promise<TaskRow | undefined> {
  return await ofKind(db, of).orderBy('created_at', 'desc').limit(1).executeTakeFirst();
}

function ofKind(db: Db | Tx, { nodeId, kind }: TasksOfKind) {
  return db.selectFrom('node_tasks').selectAll().where('node_id', '=', nodeId).where('kind', '=', kind);
}
