import { sql } from 'kysely';
import type { Services } from '../../platform/services.ts';
import type { Tick } from '../../platform/ticks/tick.ts';

/** Deletes notifications after the retention time. Queued e-mails are never that old. */
export const pruneNotifications: Tick<Pick<Services, 'db' | 'policies' | 'clock'>> = {
  name: 'notifications.prune',
  everySeconds: 3600,
  catchUp: 'skip',
  async run({ db, policies, clock }) {
    const days = policies.get('notifications.keep_days');
    const before = new Date(clock.now().getTime() - days * 86_400_000);
    await sql`delete from notifications where created_at < ${before}`.execute(db);
    await sql`delete from notification_emails where created_at < ${before} and state <> 'pending'`.execute(
      db,
    );
  },
};
