import { sql } from 'kysely';
import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Db, Tx } from '../../../platform/db/database.ts';
import { lockNode } from '../nodes/lock-node.ts';
import { requireNode } from '../nodes/require-node.ts';

type NodeIdentityState = components['schemas']['NodeIdentityState'];

/** Channel that notifies every process with tunnels about revoked certificates of a host. */
export const REVOKED_CHANNEL = 'gpuaas_node_revoked';

/**
 * From now on every request of the host is refused. It must enrol again, and keeps its node and its slots.
 */
export async function revokeIdentity(tx: Tx, nodeId: string, now: Date): Promise<void> {
  const node = await lockNode(tx, nodeId);
  await tx
    .updateTable('node_certificates')
    .set({ revoked_at: now })
    .where('node_id', '=', nodeId)
    .where('revoked_at', 'is', null)
    .execute();
  if (!node.identity_revoked_at) {
    await tx.updateTable('nodes').set({ identity_revoked_at: now }).where('id', '=', nodeId).execute();
  }
  await sql`select pg_notify(${REVOKED_CHANNEL}, ${nodeId})`.execute(tx);
}

export async function identityOf(db: Db | Tx, now: Date, nodeId: string): Promise<NodeIdentityState> {
  await requireNode(db, nodeId);
  const node = await db
    .selectFrom('nodes')
    .select(['identity_revoked_at', 'identity_rotation_since'])
    .where('id', '=', nodeId)
    .executeTakeFirstOrThrow();
  const certificates = await db
    .selectFrom('node_certificates')
    .select(['serial_number', 'issued_at', 'expires_at', 'revoked_at'])
    .where('node_id', '=', nodeId)
    .orderBy('issued_at', 'desc')
    .limit(50)
    .execute();
  const usable = certificates.some((row) => !row.revoked_at && row.expires_at > now);
  const state = node.identity_revoked_at
    ? 'revoked'
    : certificates.length === 0
      ? 'none'
      : usable
        ? 'active'
        : 'expired';
  return {
    state,
    revoked_at: node.identity_revoked_at?.toISOString() ?? null,
    rotation_since: node.identity_rotation_since?.toISOString() ?? null,
    certificates: certificates.map((row) => ({
      serial_number: row.serial_number,
      issued_at: row.issued_at.toISOString(),
      expires_at: row.expires_at.toISOString(),
      revoked_at: row.revoked_at?.toISOString() ?? null,
    })),
  };
}

/** Revoked ones among these certificates; for processes that hold tunnels opened with them. */
export async function filterRevoked(db: Db, serialNumbers: string[]): Promise<string[]> {
  if (serialNumbers.length === 0) return [];
  const rows = await db
    .selectFrom('node_certificates')
    .select('serial_number')
    .where('serial_number', 'in', serialNumbers)
    .where('revoked_at', 'is not', null)
    .execute();
  return rows.map((row) => row.serial_number);
}
