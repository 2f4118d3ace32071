import { sql } from 'kysely';
import { pruneHandledEvents } from '../events/handle-once.ts';
import { pruneParkedEvents } from '../events/parked-events.ts';
import type { Policies } from '../policy/policies.ts';
import type { Tick } from '../ticks/tick.ts';
import type { Db } from './database.ts';

/** Deletes the rows of a domain whose time is over. */
export type Retention = (db: Db, policies: Policies) => Promise<void>;

/** Deletes rows that are no longer usable. The clock is the database's, as in the policies of `0012_pruning.sql`. */
export const pruneExpired = (ofDomains: readonly Retention[]): Tick<{ db: Db; policies: Policies }> => ({
  name: 'db.prune_expired',
  everySeconds: 3600,
  catchUp: 'skip',
  async run({ db, policies }) {
    const kept = policies.get('http.idempotency_retention_seconds');
    await sql`delete from idempotency_keys where created_at < now() - make_interval(secs => ${kept})`.execute(
      db,
    );
    await sql`delete from sign_ins where expires_at < now()`.execute(db);
    await sql`delete from pending_logins where expires_at < now()`.execute(db);
    await pruneHandledEvents(db);
    await pruneParkedEvents(db);
    for (const prune of ofDomains) await prune(db, policies);
  },
});
