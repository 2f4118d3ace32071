import type { Caller } from './caller.ts';
import type { Tx } from '../db/database.ts';
import { withRole } from '../db/scope.ts';
import { notFound } from '../http/problem.ts';

/** Ends one of the caller's sessions; it is refused from the next request on. */
export async function revokeSession(tx: Tx, caller: Caller, sessionId: string): Promise<void> {
  const { userId } = caller;
  if (userId === null) throw notFound();
  const ended = await withRole(tx, 'gpuaas_auth', () =>
    tx
      .deleteFrom('sessions')
      .where('id', '=', sessionId)
      .where('user_id', '=', userId)
      .returning('id')
      .executeTakeFirst(),
  );
  if (!ended) throw notFound();
}

/** Ends every session of the caller but the one that asks; answers how many. */
export async function revokeOtherSessions(tx: Tx, caller: Caller): Promise<number> {
  const { userId, credential } = caller;
  if (userId === null) return 0;
  const ended = await withRole(tx, 'gpuaas_auth', () =>
    tx
      .deleteFrom('sessions')
      .where('user_id', '=', userId)
      .$if(credential.kind === 'session', (q) =>
        q.where('id_hash', '!=', credential.kind === 'session' ? credential.idHash : Buffer.alloc(0)),
      )
      .returning('id')
      .execute(),
  );
  return ended.length;
}

/** Signs everybody out who came through a tenant's own provider. */
export async function revokeSessionsOfIssuer(tx: Tx, organizationId: string, issuer: string): Promise<void> {
  await withRole(tx, 'gpuaas_auth', () =>
    tx
      .deleteFrom('sessions')
      .where('issuer', '=', issuer)
      .where('user_id', 'in', (q) =>
        q.selectFrom('users').select('id').where('home_organization_id', '=', organizationId),
      )
      .execute(),
  );
}
