import { SECRET_PREFIXES } from '@gpuaas/contracts/secret-prefixes';
import type { Caller } from '../../../platform/auth/caller.ts';
import { keepCredential, openCredential } from '../../../platform/auth/kept-credential.ts';
import type { Tx } from '../../../platform/db/database.ts';
import type { Services } from '../../../platform/services.ts';
import type { Access } from '../access-watch.ts';
import { findActiveAllocation } from '../find-active-allocation.ts';

export interface PortAccess extends Access {
  port: number;
}

/** What the sealed bytes are for; nothing else that was sealed opens as a token. */
const CONTEXT = 'stream_token';

/**
 * Opens streams to one port of one machine for a few minutes. It is sealed by us and stored nowhere: whether its holder
 * may still connect is asked at every stream and for as long as it is open.
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
    credential: JSON.parse(keepCredential(caller.credential)) as unknown,
    correlationId,
    port,
    expiresAt: expiresAt.getTime(),
  };
  const sealed = services.sealer.seal(JSON.stringify(content), CONTEXT).toString('base64url');
  return { token: `${SECRET_PREFIXES.stream_token}${sealed}`, expiresAt, organizationId };
}

/** Null for what we did not make, and for what is over. */
export function openStreamToken(
  { sealer, clock }: Pick<Services, 'sealer' | 'clock'>,
  token: string,
): PortAccess | null {
  if (!token.startsWith(SECRET_PREFIXES.stream_token)) return null;
  const sealed = Buffer.from(token.slice(SECRET_PREFIXES.stream_token.length), 'base64url');
  let content: PortAccess & { expiresAt: number };
  try {
    content = JSON.parse(sealer.open(sealed, CONTEXT)) as typeof content;
  } catch {
    return null;
  }
  if (content.expiresAt <= clock.now().getTime()) return null;
  return { ...content, credential: openCredential(content.credential) };
}
