import { sql } from 'kysely';
import type { Retention } from '../../../platform/db/prune-expired.ts';

/** A process that has not read changes for so long reads the whole fleet again (fleet-index.ts). */
export const prunePlacementChanges: Retention = async (db) => {
  await sql`delete from placement_changes where changed_at < now() - interval '1 hour'`.execute(db);
};
