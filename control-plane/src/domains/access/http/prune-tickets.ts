import { sql } from 'kysely';
import type { Retention } from '../../../platform/db/prune-expired.ts';

export const pruneAppTickets: Retention = async (db) => {
  await sql`delete from app_tickets where expires_at < now()`.execute(db);
};
