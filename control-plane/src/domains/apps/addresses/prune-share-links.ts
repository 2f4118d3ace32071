import { sql } from 'kysely';
import type { Retention } from '../../../platform/db/prune-expired.ts';

export const pruneShareLinks: Retention = async (db) => {
  await sql`delete from app_share_links where expires_at < now()`.execute(db);
};
