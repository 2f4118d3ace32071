import { sql } from 'kysely';
import { forgetHandledEvents } from '../events/handle-once.ts';
import type { Policies } from '../policy/policies.ts';
import type { Tick } from '../ticks/tick.ts';
import type { Db } from './database.ts';

/** Deletes what nobody can use any more. The clock is the database's, as in the policies of `0012_pruning.sql`. */
export const pruneExpired: Tick<{ db: Db; policies: Policies }> = {
  name: 'db.prune_expired',
  everySeconds: 3600,
  catchUp: 'skip',
  async run({ db, policies }) {
    const kept = policies.get('http.idempotency_retention_seconds');
    await sql`delete from idempotency_keys where created_at < now() - make_interval(secs => ${kept})`.execute(
      db,
    );
    await sql`delete from sessions where expires_at < now()`.execute(db);
    await sql`delete from pending_logins where expires_at < now()`.execute(db);
    await sql`delete from terminal_tokens where expires_at < now()`.execute(db);
    // Whoever has not looked for so long reads everything again (domains/fleet/fleet-index.ts).
    await sql`delete from placement_changes where changed_at < now() - interval '1 hour'`.execute(db);
    await forgetHandledEvents(db);
  },
};
