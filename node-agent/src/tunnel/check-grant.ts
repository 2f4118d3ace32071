import { createPublicKey } from 'node:crypto';
import { verifyCanonical } from '@gpuaas/contracts/signing';
import type { AccessGrant } from '@gpuaas/contracts/tasks';
import { decodeGrant, type SignedGrant } from '@gpuaas/contracts/tunnel';
import type { Identity } from '../identity/identity.ts';

export type GrantVerdict =
  | { ok: true; grant: AccessGrant }
  | { ok: false; status: 403 | 404; reason: string };

/** Only SSH for now; further ports come with the apps that need them. */
const PORTS = new Set([22]);

export function checkGrant(header: unknown, identity: Identity, now: Date): GrantVerdict {
  const signed = typeof header === 'string' ? decoded(header) : null;
  if (!signed || !isSigned(signed, identity.signing_public_key_pem)) return refuse(403, 'grant_invalid');
  const { grant } = signed;
  if (grant.node_id !== identity.node_id) return refuse(403, 'grant_for_another_node');
  if (!(Date.parse(grant.expires_at) > now.getTime())) return refuse(403, 'grant_expired');
  if (!PORTS.has(grant.port)) return refuse(403, 'port_not_allowed');
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

function refuse(status: 403 | 404, reason: string): GrantVerdict {
  return { ok: false, status, reason };
}
