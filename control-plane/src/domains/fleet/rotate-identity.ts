import { sql } from 'kysely';
import { recordAudit } from '../../platform/audit/record.ts';
import type { Tx } from '../../platform/db/database.ts';
import { newId } from '../../platform/ids.ts';
import type { Services } from '../../platform/services.ts';
import { cordonNode, liftCordon } from './cordons.ts';
import { lockNode } from './lock-node.ts';
import { emitNodeChanged } from './node-events.ts';
import { REVOKED_CHANNEL } from './revoke-identity.ts';

const AT_ONCE = 50;

/**
 * The host needs a new key before anything is placed on it again. Its next heartbeat is told to renew; what it does
 * then survives any crash, as nothing but the certificates themselves says how far it is.
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

/** Ends what hosts have done: one that was heard of with a newer certificate has rotated. */
export async function endIdentityRotations(services: Services): Promise<number> {
  const { rows } = await sql<{ id: string }>`
    select n.id from nodes n join node_certificates c on c.serial_number = n.certificate_serial
    where n.identity_rotation_since < c.issued_at and c.revoked_at is null limit ${AT_ONCE}`.execute(
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
  // Whatever the agent asked for with the certificate in use is its own. All else may be a copy's: of the old key,
  // or of one that somebody got with the old key at the last moment.
  const { rows: revoked } = await sql<{ serial_number: string }>`
    with recursive own as (
      select ${node.certificate_serial}::text as serial_number
      union select c.serial_number from node_certificates c join own on c.renewed_from = own.serial_number
      where c.node_id = ${nodeId})
    update node_certificates c set revoked_at = ${now}
    where c.node_id = ${nodeId} and c.revoked_at is null and c.serial_number not in (select serial_number from own)
    returning c.serial_number`.execute(tx);
  await tx.updateTable('nodes').set({ identity_rotation_since: null }).where('id', '=', nodeId).execute();
  await liftCordon(tx, nodeId, 'identity_rotation');
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
