import { sql } from 'kysely';
import type { Db } from '../../../platform/db/database.ts';
import type { Policies } from '../../../platform/policy/policies.ts';
import type { Tick } from '../../../platform/ticks/tick.ts';

/** Deletes recordings after the policy's retention. */
export const pruneRecordings: Tick<{ db: Db; policies: Policies }> = {
  name: 'terminal.prune_recordings',
  everySeconds: 3600,
  catchUp: 'skip',
  async run({ db, policies }) {
    const kept = policies.get('terminal.recording_retention_seconds');
    await sql`delete from terminal_recordings where started_at < now() - make_interval(secs => ${kept})`.execute(
      db,
    );
  },
};
