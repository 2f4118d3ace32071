import type { Caller } from '../../../platform/auth/caller.ts';
import { randomSecret } from '../../../platform/auth/secrets.ts';
import type { Tx } from '../../../platform/db/database.ts';
import type { Services } from '../../../platform/services.ts';
import { findActiveAllocation } from '../find-active-allocation.ts';
import type { TerminalTokens } from './terminal-tokens.ts';

/**
 * An opaque token that opens one terminal within five minutes, and not after its creator's credential
 * expired.
 */
export async function mintTerminalToken(
  services: Services,
  tokens: TerminalTokens,
  tx: Tx,
  caller: Caller,
  { allocationId, correlationId }: { allocationId: string; correlationId: string },
): Promise<{ token: string; expiresAt: Date; organizationId: string }> {
  const { organization_id: organizationId } = await findActiveAllocation(tx, caller, allocationId);
  const token = randomSecret();
  const ttlSeconds = services.policies.get('terminal.token_ttl_seconds', { organizationId });
  const expiresAt = new Date(services.clock.now().getTime() + ttlSeconds * 1000);
  const access = { allocationId, actorId: caller.id, credential: caller.credential, correlationId };
  await tokens.keep(tx, token, access, ttlSeconds);
  return { token, expiresAt, organizationId };
}
