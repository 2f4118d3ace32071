import { sql } from 'kysely';
import type { Db } from '../db/database.ts';
import type { Tick } from './tick.ts';

const KEPT_DAYS = 7;

/** Deletes old runs; the newest finished one of each tick stays, because it is the starting point. */
export const pruneRuns: Tick<{ db: Db }> = {
  name: 'ticks.prune_runs',
  everySeconds: 3600,
  catchUp: 'skip',
  async run({ db }, { to }) {
    const before = new Date(to.getTime() - KEPT_DAYS * 86_400_000);
    await sql`
      delete from tick_runs t where period_start < ${before}
        and period_start < (select max(period_start) from tick_runs newest
          where newest.tick = t.tick and newest.finished_at is not null)`.execute(db);
  },
};
