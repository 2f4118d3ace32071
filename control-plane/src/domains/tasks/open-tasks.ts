import { sql } from 'kysely';
import type { Db, Tx } from '../../platform/db/database.ts';
import { OPEN_TASK_STATES } from './states.ts';

/** Open tasks of these hosts that are not overdue, oldest first. */
export async function listOpenTasks(
  db: Db | Tx,
  nodeIds: string[],
): Promise<Map<string, { kind: string; state: string }[]>> {
  const rows = await db
    .selectFrom('node_tasks')
    .select(['node_id', 'kind', 'state'])
    .where('node_id', 'in', nodeIds)
    .where('state', 'in', OPEN_TASK_STATES)
    .where('expires_at', '>', sql<Date>`now()`)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
  return Map.groupBy(rows, (row) => row.node_id);
}
