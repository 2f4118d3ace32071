import type { Selectable } from 'kysely';
import { parseTaskOutput, type TaskKind, type TaskOutput } from '@gpuaas/contracts/tasks';
import type { Db, Tx } from '../../platform/db/database.ts';
import type { NodeTasks } from '../../platform/db/generated/schema.ts';

/** The newest succeeded task of a kind on the host, with its output. */
export async function latestSucceededTask<K extends TaskKind>(
  db: Db | Tx,
  nodeId: string,
  kind: K,
): Promise<{ task: Selectable<NodeTasks>; output: TaskOutput[K] } | null> {
  const task = await db
    .selectFrom('node_tasks')
    .selectAll()
    .where('node_id', '=', nodeId)
    .where('kind', '=', kind)
    .where('state', '=', 'succeeded')
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
  return task ? { task, output: parseTaskOutput(kind, task.output) } : null;
}
