import { sql } from 'kysely';
import type { Tick } from '../ticks/tick.ts';
import type { Db } from './database.ts';
import { systemClock } from '../clock.ts';

export interface Retention {
  /** Events older than this go once every consumer has read them. */
  eventDays?: number;
  /** Null keeps audit rows for ever. */
  auditDays?: number | null;
}

const DAY_MS = 86_400_000;

/** Makes the coming months of audit rows and events and drops whole months that need not be kept. */
export function keepMonths({ eventDays = 90, auditDays = null }: Retention): Tick<{ db: Db }> {
  return {
    name: 'db.keep_months',
    everySeconds: 6 * 3600,
    catchUp: 'skip',
    async run({ db }) {
      await createMonths(db);
      await dropMonths(db, 'outbox_events', eventDays);
      if (auditDays !== null) await dropMonths(db, 'audit_logs', auditDays);
    },
  };
}

/** Also at every start: a platform that slept for months finds its tables without one for today. */
export async function createMonths(db: Db): Promise<void> {
  await sql`select create_month_partitions()`.execute(db);
}

export async function dropMonths(
  db: Db,
  table: 'audit_logs' | 'outbox_events',
  days: number,
): Promise<string[]> {
  const before = new Date(systemClock.now().getTime() - days * DAY_MS);
  const { rows } = await sql<{ name: string }>`
    select drop_month_partitions(${table}, ${before}) as name`.execute(db);
  return rows.map((row) => row.name);
}
