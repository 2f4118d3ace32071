import { CompiledQuery } from 'kysely';
import type { Binding, Caller } from '../../../platform/auth/caller.ts';
import { grantedBindings } from '../../../platform/auth/granted-bindings.ts';
import { systemClock } from '../../../platform/clock.ts';
import type { Tx } from '../../../platform/db/database.ts';
import {
  apiKeysBy,
  APP_INSTANCE,
  bindingsOfInstance,
  bindingsOfKey,
  IDENTITY,
  SIGN_IN,
  tokensBy,
  type Statement,
} from './credentials.ts';

/**
 * Reads a caller's credential and rights again, for connections that outlive a request; null if the
 * credential is gone.
 */
export async function refreshBindings(
  tx: Tx,
  { credential }: Pick<Caller, 'credential'>,
): Promise<Binding[] | null> {
  switch (credential.kind) {
    case 'sign_in': {
      const row = await findAgain(tx, SIGN_IN, credential.idHash, credential.idleSeconds);
      return row && grantedBindings(row.bindings, null);
    }
    case 'api_key': {
      const row = await findAgain(tx, apiKeysBy('id'), [credential.id]);
      return row && bindingsOfKey(row);
    }
    case 'service_account_token': {
      const row = await findAgain(tx, tokensBy('id'), [credential.id]);
      return row && grantedBindings(row.bindings, null);
    }
    case 'app_instance_token': {
      const row = await findAgain(tx, APP_INSTANCE, credential.id);
      return row && bindingsOfInstance(row);
    }
    case 'access_token': {
      if (credential.expiresAt <= systemClock.now()) return null;
      const row = await findAgain(
        tx,
        IDENTITY,
        credential.issuer,
        credential.subject,
        credential.ofPlatform,
        credential.issuedAt,
      );
      return row && grantedBindings(row.bindings, null);
    }
  }
}

async function findAgain<Row>(tx: Tx, { text }: Statement<Row>, ...values: unknown[]): Promise<Row | null> {
  const { rows } = await tx.executeQuery<Row>(CompiledQuery.raw(text, values));
  return rows[0] ?? null;
}
