import type { TLSSocket } from 'node:tls';
import type { IncomingMessage } from 'node:http';
import type { Db } from '../../platform/db/database.ts';
import type { Scope } from '../../platform/db/scope.ts';
import type { CallerIdentity } from '../../platform/http/caller-identity.ts';
import { Problem } from '../../platform/http/problem.ts';
import { systemClock } from '../../platform/clock.ts';

/** A host that proved its identity with a certificate of ours. */
export interface NodeCaller extends CallerIdentity {
  nodeId: string;
}

const NOBODY = '00000000-0000-0000-0000-000000000000';

export function enrollingNode(): NodeCaller {
  return {
    id: NOBODY,
    nodeId: NOBODY,
    actorId: null,
    role: 'enrolling_node',
    authorised: true,
    scope: { role: 'gpuaas_node' },
  };
}

/**
 * The node behind a connection. TLS has checked chain and dates; the serial must also be one we issued to
 * that node and have not revoked.
 */
export async function nodeOfConnection(db: Db, request: IncomingMessage): Promise<NodeCaller> {
  const socket = request.socket as TLSSocket;
  if (!socket.authorized) throw refused();
  const serial = socket.getPeerX509Certificate()?.serialNumber.toLowerCase();
  if (!serial) throw refused();
  const row = await db
    .selectFrom('node_certificates')
    .select('node_id')
    .where('serial_number', '=', serial)
    .where('revoked_at', 'is', null)
    .where('expires_at', '>', systemClock.now())
    .executeTakeFirst();
  if (!row) throw refused();
  return enrolledNode(row.node_id);
}

export function enrolledNode(nodeId: string): NodeCaller {
  return { id: nodeId, nodeId, actorId: null, role: 'node', authorised: true, scope: nodeScope(nodeId) };
}

export function nodeScope(nodeId: string): Scope {
  return { role: 'gpuaas_node', nodeId };
}

function refused(): Problem {
  return new Problem('unauthenticated', 'A node certificate issued by this platform is required.');
}
