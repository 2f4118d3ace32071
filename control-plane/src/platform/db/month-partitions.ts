import { sql } from 'kysely';
import type { Policies } from '../policy/policies.ts';
import type { Tick } from '../ticks/tick.ts';
import type { Db } from './database.ts';
import { systemClock } from '../clock.ts';

const DAY_MS = 86_400_000;

/** Creates the coming months of audit rows and events and drops whole months of events past retention. */
export const maintainPartitions: Tick<{ db: Db; policies: Policies }> = {
  name: 'db.keep_months',
  everySeconds: 6 * 3600,
  catchUp: 'skip',
  async run({ db, policies }) {
    await createMonthPartitions(db);
    await dropMonthPartitions(db, 'outbox_events', policies.get('events.retention_days'));
  },
};

/** Also at every start: a platform that was off for months has no partition for today. */
export async function createMonthPartitions(db: Db): Promise<void> {
  await sql`select create_month_partitions()`.execute(db);
}

export async function dropMonthPartitions(
  db: Db,
  table: 'audit_logs' | 'outbox_events',
  days: number,
): Promise<string[]> {
  const before = new Date(systemClock.now().getTime() - days * DAY_MS);
  const { rows } = await sql<{ name: string }>`
    select drop_month_partitions(${table}, ${before}) as name`.execute(db);
  return rows.map((row) => row.name);
}
