import { SECRET_PREFIXES } from '@gpuaas/contracts/secret-prefixes';
import type { Caller } from '../../../platform/auth/caller.ts';
import { keptCredential, parseCredential } from '../../../platform/auth/serialize-credential.ts';
import type { Tx } from '../../../platform/db/database.ts';
import type { Services } from '../../../platform/services.ts';
import type { MachineAccess } from '../machine-door.ts';
import { findActiveAllocation } from '../find-active-allocation.ts';

export interface PortAccess extends MachineAccess {
  port: number;
}

/** Purpose of the sealed bytes; other sealed values do not open as a token. */
const CONTEXT = 'stream_token';

/**
 * Opens streams to one port of one machine for a few minutes. It is sealed by us and stored nowhere: the
 * holder's permission is checked for every stream and while it is open.
 */
export async function mintStreamToken(
  services: Services,
  tx: Tx,
  caller: Caller,
  { allocationId, port, correlationId }: { allocationId: string; port: number; correlationId: string },
): Promise<{ token: string; expiresAt: Date; organizationId: string }> {
  const { organization_id: organizationId } = await findActiveAllocation(tx, caller, allocationId);
  const ttlSeconds = services.policies.get('access.stream_token_ttl_seconds', { organizationId });
  const expiresAt = new Date(services.clock.now().getTime() + ttlSeconds * 1000);
  const content = {
    allocationId,
    actorId: caller.id,
    credential: keptCredential(caller.credential),
    correlationId,
    port,
    expiresAt: expiresAt.getTime(),
  };
  const sealed = services.sealer.seal('stream_token', JSON.stringify(content), CONTEXT).toString('base64url');
  return { token: `${SECRET_PREFIXES.stream_token}${sealed}`, expiresAt, organizationId };
}

/** Null for a token that we did not create, and for an expired one. */
export function verifyStreamToken(
  { sealer, clock }: Pick<Services, 'sealer' | 'clock'>,
  token: string,
): PortAccess | null {
  if (!token.startsWith(SECRET_PREFIXES.stream_token)) return null;
  const sealed = Buffer.from(token.slice(SECRET_PREFIXES.stream_token.length), 'base64url');
  let content: PortAccess & { expiresAt: number };
  try {
    content = JSON.parse(sealer.open('stream_token', sealed, CONTEXT));
  } catch {
    return null;
  }
  if (content.expiresAt <= clock.now().getTime()) return null;
  return { ...content, credential: parseCredential(content.credential) };
}
