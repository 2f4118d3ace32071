import { sql } from 'kysely';
import { first } from '../../platform/present.ts';
import type { Retention } from '../../platform/db/prune-expired.ts';

const BATCH = 1_000;

/** Deletes finished tasks after `tasks.keep_days`; the SQL function says which stay. */
export const pruneTasks: Retention = async (db, policies) => {
  const keptDays = policies.get('tasks.keep_days');
  for (let deleted = BATCH; deleted === BATCH;) {
    const { rows } = await sql<{ deleted: number }>`
      select prune_node_tasks(now() - make_interval(days => ${keptDays}), ${BATCH}) as deleted`.execute(db);
    deleted = first(rows, 'row of the statement').deleted;
  }
};
