import { serializeCredential, parseCredential } from '../../../platform/auth/serialize-credential.ts';
import { hashSecret } from '../../../platform/auth/secrets.ts';
import type { Services } from '../../../platform/services.ts';
import type { TerminalTokens } from './terminal-tokens.ts';

/** Only the hash of a token is stored. `services` are the gateway's. */
export function postgresTokens({ db, clock }: Pick<Services, 'db' | 'clock'>): TerminalTokens {
  return {
    async keep(tx, token, access, ttlSeconds) {
      await tx
        .insertInto('terminal_tokens')
        .values({
          token_hash: hashSecret(token),
          allocation_id: access.allocationId,
          user_id: access.actorId,
          credential: serializeCredential(access.credential),
          correlation_id: access.correlationId,
          expires_at: new Date(clock.now().getTime() + ttlSeconds * 1000),
        })
        .execute();
    },

    /** Deleting is consuming. */
    async consume(token) {
      const row = await db
        .deleteFrom('terminal_tokens')
        .where('token_hash', '=', hashSecret(token))
        .returningAll()
        .executeTakeFirst();
      if (!row || row.expires_at <= clock.now()) return null;
      return {
        allocationId: row.allocation_id,
        actorId: row.user_id,
        credential: parseCredential(row.credential),
        correlationId: row.correlation_id,
      };
    },
  };
}
