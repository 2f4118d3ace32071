import { endSignInsOfUsers } from '../../platform/auth/sign-ins.ts';
import type { Tx } from '../../platform/db/database.ts';
import { demoPeople } from './seed-demo-people.ts';

/**
 * The passwords of the demo people are public, so the people and their keys end when a real identity provider
 * takes over a data folder. Returns the number of keys that were still valid.
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
  await endSignInsOfUsers(tx, userIds);
  const revoked = await tx
    .updateTable('api_keys')
    .set({ revoked_at: now })
    .where('user_id', 'in', userIds)
    .where('revoked_at', 'is', null)
    .executeTakeFirst();
  return Number(revoked.numUpdatedRows);
}
