import { sql } from 'kysely';
import { recordAudit } from '../../../platform/audit/record.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { newId } from '../../../platform/ids.ts';
import type { Services } from '../../../platform/services.ts';
import { cordonNode, uncordonNode } from '../nodes/cordons.ts';
import { lockNode } from '../nodes/lock-node.ts';
import { emitNodeChanged } from '../nodes/node-events.ts';
import { REVOKED_CHANNEL } from './revoke-identity.ts';

const BATCH = 50;

/**
 * Requires a new key of the host before the next placement. Its next heartbeat response asks it to renew;
 * progress survives any crash, because it is derived from the certificates alone.
 */
export async function requestIdentityRotation(
  tx: Tx,
  now: Date,
  nodeId: string,
  correlationId: string,
): Promise<void> {
  // By the database's clock, which also dates the certificates.
  await sql`update nodes set identity_rotation_since = now() where id = ${nodeId}`.execute(tx);
  const detail = 'The host is to show a new key after a lease of the whole host.';
  await cordonNode(tx, nodeId, { reason: 'identity_rotation', detail, since: now });
  await emitNodeChanged(tx, nodeId, 'cordons_changed', correlationId);
}

/** Completes rotations: a host that connected with a newer certificate has rotated. */
export async function completeIdentityRotations(services: Services): Promise<number> {
  const { rows } = await sql<{ id: string }>`
    select n.id from nodes n join node_certificates c on c.serial_number = n.certificate_serial
    where n.identity_rotation_since < c.issued_at and c.revoked_at is null limit ${BATCH}`.execute(
    services.db,
  );
  for (const { id } of rows) {
    await services.db.transaction().execute((tx) => endIdentityRotation(tx, services.clock.now(), id));
  }
  return rows.length;
}

async function endIdentityRotation(tx: Tx, now: Date, nodeId: string): Promise<void> {
  const node = await lockNode(tx, nodeId);
  if (!node.identity_rotation_since || !node.certificate_serial) return;
  // Certificates that the agent requested with the one in use are its own. All others may belong to a copy:
  // of the old key, or of a key obtained with it at the last moment.
  const { rows: revoked } = await sql<{ serial_number: string }>`
    with recursive own as (
      select ${node.certificate_serial}::text as serial_number
      union select c.serial_number from node_certificates c join own on c.renewed_from = own.serial_number
      where c.node_id = ${nodeId})
    update node_certificates c set revoked_at = ${now}
    where c.node_id = ${nodeId} and c.revoked_at is null and c.serial_number not in (select serial_number from own)
    returning c.serial_number`.execute(tx);
  await tx.updateTable('nodes').set({ identity_rotation_since: null }).where('id', '=', nodeId).execute();
  await uncordonNode(tx, nodeId, 'identity_rotation');
  const correlationId = newId();
  await emitNodeChanged(tx, nodeId, 'cordons_changed', correlationId);
  await recordAudit(tx, {
    actorUserId: null,
    actorRole: 'worker',
    action: 'node.identity_rotate',
    targetType: 'node',
    targetId: nodeId,
    result: 'succeeded',
    correlationId,
    after: { serial_number: node.certificate_serial },
    detail: { revoked: revoked.map(({ serial_number }) => serial_number) },
  });
  await sql`select pg_notify(${REVOKED_CHANNEL}, ${nodeId})`.execute(tx);
}
