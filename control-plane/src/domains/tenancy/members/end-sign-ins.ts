import { sql } from 'kysely';
import { endSignInsOfUsers } from '../../../platform/auth/sign-ins.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { withRole } from '../../../platform/db/scope.ts';
import { notFound } from '../../../platform/http/problem.ts';

/**
 * Ends every sign-in of a person: browsers, and access tokens of the provider by their age, because no list
 * of them exists. Returns the number of browsers.
 */
export async function endSignInsOfPerson(tx: Tx, userId: string): Promise<number> {
  return await withRole(tx, 'gpuaas_auth', async () => {
    const person = await tx
      .updateTable('users')
      .set({ sign_ins_ended_at: sql<Date>`clock_timestamp()` })
      .where('id', '=', userId)
      .returning('id')
      .executeTakeFirst();
    if (!person) throw notFound();
    return await endSignInsOfUsers(tx, [userId]);
  });
}
