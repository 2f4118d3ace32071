import { TLSSocket } from 'node:tls';
import type { IncomingMessage } from 'node:http';
import { sql } from 'kysely';
import type { Db } from '../../../platform/db/database.ts';
import { nodeScope } from '../../../platform/db/scope.ts';
import type { CallerIdentity } from '../../../platform/http/caller-identity.ts';
import { CredentialRefusedError } from '../../../platform/http/admission/credential-refused.ts';
import { Problem } from '../../../platform/http/problem.ts';
import { NIL_ID } from '../../../platform/ids.ts';
import { systemClock } from '../../../platform/clock.ts';

/** A host that proved its identity with a certificate of ours. */
export interface NodeCaller extends CallerIdentity {
  nodeId: string;
  /** Certificate of the caller; null without one. */
  certificate: PresentedCertificate | null;
}

export interface PresentedCertificate {
  serialNumber: string;
  authorityId: string;
  /** The host must rotate its key, and this is still the old one. */
  rotationDue: boolean;
}

const NEEDS_CERTIFICATE = 'A node certificate issued by this platform is required.';

export function enrollingNode(): NodeCaller {
  return {
    id: NIL_ID,
    nodeId: NIL_ID,
    certificate: null,
    actorId: null,
    role: 'enrolling_node',
    authorised: true,
    scope: { role: 'gpuaas_node' },
  };
}

/**
 * The node behind a connection. TLS has checked chain and dates; the serial must also be one we issued and have not
 * revoked.
 */
export async function authenticateNode(db: Db, request: IncomingMessage): Promise<NodeCaller> {
  const { socket } = request;
  if (!(socket instanceof TLSSocket)) throw refused();
  const certificate = socket.getPeerX509Certificate();
  if (!certificate) throw refused();
  const serial = certificate.serialNumber.toLowerCase();
  const row = await db
    .selectFrom('node_certificates as c')
    .innerJoin('nodes as n', 'n.id', 'c.node_id')
    .select(['c.node_id', 'c.authority_id', 'c.expires_at', 'c.revoked_at'])
    .select(sql<boolean>`coalesce(c.issued_at <= n.identity_rotation_since, false)`.as('rotation_due'))
    .where('c.serial_number', '=', serial)
    .executeTakeFirst();
  const reason = refusalOf(socket, row);
  if (row && reason === null) {
    return enrolledNode(row.node_id, {
      serialNumber: serial,
      authorityId: row.authority_id,
      rotationDue: row.rotation_due,
    });
  }
  throw new CredentialRefusedError('unauthenticated', NEEDS_CERTIFICATE, {
    reason: reason ?? 'unknown',
    refused: {
      actorUserId: null,
      actorKind: row ? 'node' : 'anonymous',
      actorRole: 'node',
      credentialId: serial.slice(0, 64),
      organizationId: null,
      action: 'node.authenticate',
      targetType: row ? 'node' : 'certificate',
      targetId: row?.node_id ?? serial.slice(0, 64),
    },
  });
}

/** Whether one of our authorities signed the certificate of the connection. */
export function showsOwnCertificate(request: IncomingMessage): boolean {
  return request.socket instanceof TLSSocket && request.socket.authorized;
}

export type CertificateRefusal = 'foreign' | 'expired' | 'not_yet_valid' | 'unknown' | 'revoked';

const TLS_REFUSALS: Record<string, CertificateRefusal> = {
  CERT_HAS_EXPIRED: 'expired',
  CERT_NOT_YET_VALID: 'not_yet_valid',
};

function refusalOf(
  socket: Pick<TLSSocket, 'authorized' | 'authorizationError'>,
  row: { expires_at: Date; revoked_at: Date | null } | undefined,
): CertificateRefusal | null {
  // Typed as an error, but it is the code.
  if (!socket.authorized) return TLS_REFUSALS[String(socket.authorizationError)] ?? 'foreign';
  if (!row) return 'unknown';
  if (row.revoked_at) return 'revoked';
  return row.expires_at <= systemClock.now() ? 'expired' : null;
}

export function enrolledNode(nodeId: string, certificate: PresentedCertificate | null = null): NodeCaller {
  const scope = nodeScope(nodeId);
  return { id: nodeId, nodeId, certificate, actorId: null, role: 'node', authorised: true, scope };
}

function refused(): Problem {
  return new Problem('unauthenticated', NEEDS_CERTIFICATE);
}
