import { createPublicKey } from 'node:crypto';
import { verifyCanonical } from '@gpuaas/contracts/signing';
import type { AccessGrant } from '@gpuaas/contracts/tasks';
import { connectAuthority, decodeGrant, type SignedGrant } from '@gpuaas/contracts/tunnel';
import type { Identity } from '../identity/identity.ts';
import type { UsedGrants } from './used-grants.ts';

export type GrantVerdict = { ok: true; grant: AccessGrant } | { ok: false; reason: string };

/** The platform issues no grant that lives longer, so used grants are remembered for no longer. */
const MAX_LIFE_MS = 600_000;

export interface GrantRequest {
  header: unknown;
  /** The stream's requested target. */
  authority: unknown;
}

/** A grant that passes is used up by it. */
export function checkGrant(
  { header, authority }: GrantRequest,
  identity: Identity,
  used: UsedGrants,
  now: Date,
): GrantVerdict {
  const signed = typeof header === 'string' ? decoded(header) : null;
  if (!signed || !isSigned(signed, identity.signing_public_key_pem)) return refuse('grant_invalid');
  const { grant } = signed;
  const expiresAt = Date.parse(grant.expires_at);
  if (grant.node_id !== identity.node_id) return refuse('grant_for_another_node');
  if (!(expiresAt > now.getTime())) return refuse('grant_expired');
  if (expiresAt > now.getTime() + MAX_LIFE_MS) return refuse('grant_too_long');
  if ((grant.resource === 'port') !== (grant.port !== null)) return refuse('grant_invalid');
  if (authority !== connectAuthority(grant)) return refuse('address_not_granted');
  if (!used.add(grant.grant_id, expiresAt, now)) return refuse('grant_used');
  return { ok: true, grant };
}

function decoded(header: string): SignedGrant | null {
  try {
    return decodeGrant(header);
  } catch {
    return null;
  }
}

function isSigned({ grant, signature }: SignedGrant, keyPem: string): boolean {
  try {
    return verifyCanonical(grant, signature, createPublicKey(keyPem));
  } catch {
    return false;
  }
}

function refuse(reason: string): GrantVerdict {
  return { ok: false, reason };
}
