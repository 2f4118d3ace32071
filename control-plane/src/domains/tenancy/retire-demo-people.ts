import { endSessionsOf } from '../../platform/auth/sessions.ts';
import type { Tx } from '../../platform/db/database.ts';
import { demoPeople } from './seed-demo-people.ts';

/**
 * The demo people's passwords are printed for all to read, so they and their keys end where a real identity provider
 * takes over a data folder. Returns how many keys were still good.
 */
export async function retireDemoPeople(tx: Tx, now: Date): Promise<number> {
  const users = await tx
    .selectFrom('users')
    .select('id')
    .where((e) =>
      e.or(demoPeople.map(({ key, email }) => e.and([e('subject', '=', key), e('email', '=', email)]))),
    )
    .execute();
  const userIds = users.map((user) => user.id);
  if (userIds.length === 0) return 0;
  await endSessionsOf(tx, userIds);
  const revoked = await tx
    .updateTable('api_keys')
    .set({ revoked_at: now })
    .where('user_id', 'in', userIds)
    .where('revoked_at', 'is', null)
    .executeTakeFirst();
  return Number(revoked.numUpdatedRows);
}
