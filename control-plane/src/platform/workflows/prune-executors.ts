import { sql } from 'kysely';
import type { Db } from '../db/database.ts';
import type { Tick } from '../ticks/tick.ts';

const KEPT_DAYS = 7;

/** Deletes executors that ended long ago and hold no workflow. */
export const pruneExecutors: Tick<{ db: Db }> = {
  name: 'workflows.prune_executors',
  everySeconds: 3600,
  catchUp: 'skip',
  async run({ db }, { to }) {
    const before = new Date(to.getTime() - KEPT_DAYS * 86_400_000);
    await sql`
      delete from workflow_executors e where lost_at < ${before}
        and not exists (select 1 from dbos.workflow_status w
          where w.status = 'PENDING' and w.executor_id = e.executor_id)`.execute(db);
  },
};
