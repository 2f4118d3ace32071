import { sql } from 'kysely';
import type { Caller } from './caller.ts';
import type { Tx } from '../db/database.ts';
import { withRole } from '../db/scope.ts';
import { notFound } from '../http/problem.ts';

/** Ends one of the caller's sign-ins; it is refused from the next request on. */
export async function revokeSignIn(tx: Tx, caller: Caller, signInId: string): Promise<void> {
  const { userId } = caller;
  if (userId === null) throw notFound();
  const ended = await withRole(tx, 'gpuaas_auth', () =>
    tx
      .deleteFrom('sign_ins')
      .where('id', '=', signInId)
      .where('user_id', '=', userId)
      .returning('id')
      .executeTakeFirst(),
  );
  if (!ended) throw notFound();
}

/** Ends every sign-in of the caller except the current one; returns their number. */
export async function revokeOtherSignIns(tx: Tx, caller: Caller): Promise<number> {
  const { userId, credential } = caller;
  if (userId === null) return 0;
  const ended = await withRole(tx, 'gpuaas_auth', () =>
    tx
      .deleteFrom('sign_ins')
      .where('user_id', '=', userId)
      .$if(credential.kind === 'sign_in', (q) =>
        q.where('id_hash', '!=', credential.kind === 'sign_in' ? credential.idHash : Buffer.alloc(0)),
      )
      .returning('id')
      .execute(),
  );
  return ended.length;
}

/** Signs out those of the people who signed in through a provider. */
export async function revokeSignInsOfIssuer(
  tx: Tx,
  userIds: readonly string[],
  issuer: string,
): Promise<void> {
  await withRole(tx, 'gpuaas_auth', () =>
    tx
      .deleteFrom('sign_ins')
      .where('issuer', '=', issuer)
      .where(sql<boolean>`user_id = any (${userIds}::uuid[])`)
      .execute(),
  );
}
