import type { Caller, Credential } from '../../platform/auth/caller.ts';
import { keepCredential, openCredential } from '../../platform/auth/kept-credential.ts';
import { hashSecret, randomSecret } from '../../platform/auth/secrets.ts';
import type { Db, Tx } from '../../platform/db/database.ts';
import { Problem } from '../../platform/http/problem.ts';
import type { Services } from '../../platform/services.ts';
import { findAllocation } from '../allocations/find-allocation.ts';

export interface TerminalGrant {
  allocationId: string;
  /** A user or a service account. */
  actorId: string;
  credential: Credential;
  correlationId: string;
}

/** An opaque token that opens one terminal within five minutes, and no longer than the credential it was got with. */
export async function mintTerminalToken(
  services: Services,
  tx: Tx,
  caller: Caller,
  allocationId: string,
  correlationId: string,
): Promise<{ token: string; expiresAt: Date; organizationId: string }> {
  const allocation = await findAllocation(tx, caller, 'allocation.connect', allocationId);
  if (allocation.state !== 'active' || allocation.desired_state !== 'active') {
    throw new Problem(
      'allocation_not_active',
      `The allocation is ${allocation.state}; a terminal needs it active.`,
      {
        extensions: { state: allocation.state },
      },
    );
  }
  const token = randomSecret();
  const expiresAt = new Date(
    services.clock.now().getTime() +
      services.policies.get('terminal.token_ttl_seconds', { organizationId: allocation.organization_id }) *
        1000,
  );
  await tx
    .insertInto('terminal_tokens')
    .values({
      token_hash: hashSecret(token),
      allocation_id: allocationId,
      user_id: caller.id,
      credential: keepCredential(caller.credential),
      correlation_id: correlationId,
      expires_at: expiresAt,
    })
    .execute();
  return { token, expiresAt, organizationId: allocation.organization_id };
}

/** Deleting is consuming: of two that race, one gets the row. */
export async function consumeTerminalToken(db: Db, token: string, now: Date): Promise<TerminalGrant | null> {
  const row = await db
    .deleteFrom('terminal_tokens')
    .where('token_hash', '=', hashSecret(token))
    .returningAll()
    .executeTakeFirst();
  if (!row || row.expires_at <= now) return null;
  return {
    allocationId: row.allocation_id,
    actorId: row.user_id,
    credential: openCredential(row.credential),
    correlationId: row.correlation_id,
  };
}
