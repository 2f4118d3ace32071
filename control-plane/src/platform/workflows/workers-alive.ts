import { sql } from 'kysely';
import type { Db } from '../db/database.ts';

const SILENT_AFTER = '15 seconds';

/** For readiness: throws if no worker has sent a heartbeat lately. */
export async function assertWorkersAlive(db: Db): Promise<void> {
  const { rows } = await sql<{ alive: number }>`
    select count(*)::int as alive from workflow_executors
    where heartbeat_at > now() - ${SILENT_AFTER}::interval`.execute(db);
  if (rows[0]?.alive === 0) throw new Error(`no worker has been heard of for ${SILENT_AFTER}`);
}
