import { sql } from 'kysely';
import { forgetHandledEvents } from '../events/handle-once.ts';
import type { Tick } from '../ticks/tick.ts';
import type { Db } from './database.ts';

/** Far longer than any client retries; the policy in `0010_roles.sql` lets nobody go below 24 hours. */
const KEYS_KEPT = '48 hours';

/** Deletes what nobody can use any more. The clock is the database's, as in the policies of `0012_pruning.sql`. */
export const pruneExpired: Tick<{ db: Db }> = {
  name: 'db.prune_expired',
  everySeconds: 3600,
  catchUp: 'skip',
  async run({ db }) {
    await sql`delete from idempotency_keys where created_at < now() - ${KEYS_KEPT}::interval`.execute(db);
    await sql`delete from sessions where expires_at < now()`.execute(db);
    await sql`delete from pending_logins where expires_at < now()`.execute(db);
    await sql`delete from terminal_tokens where expires_at < now()`.execute(db);
    await forgetHandledEvents(db);
  },
};
