import { sql } from 'kysely';
import type { Retention } from '../../../platform/db/prune-expired.ts';

export const pruneTerminalTokens: Retention = async (db) => {
  await sql`delete from terminal_tokens where expires_at < now()`.execute(db);
};
