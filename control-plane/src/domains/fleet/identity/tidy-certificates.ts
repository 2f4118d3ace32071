import { sql } from 'kysely';
import type { Services } from '../../../platform/services.ts';
import type { Tick } from '../../../platform/ticks/tick.ts';
import { REVOKED_CHANNEL } from './revoke-identity.ts';

const AT_A_TIME = 1000;

/**
 * A host that speaks with a certificate has no more use for those it came from, and nobody has one for what ended a month
 * ago. The newest of a host stays, to tell that it once had one.
 */
export const tidyCertificates: Tick<Services> = {
  name: 'fleet.tidy_certificates',
  everySeconds: 600,
  catchUp: 'skip',
  async run({ db, clock }) {
    await db.transaction().execute(async (tx) => {
      const { rows } = await sql<{ node_id: string }>`
        with recursive former as (
          select c.renewed_from as serial_number, n.id as node_id
          from nodes n join node_certificates c on c.serial_number = n.certificate_serial and c.revoked_at is null
          where c.renewed_from is not null
          union
          select c.renewed_from, f.node_id from former f
          join node_certificates c on c.serial_number = f.serial_number and c.node_id = f.node_id
          where c.renewed_from is not null)
        update node_certificates c set revoked_at = ${clock.now()} from former f
        where c.serial_number = f.serial_number and c.node_id = f.node_id and c.revoked_at is null
        returning c.node_id`.execute(tx);
      for (const nodeId of new Set(rows.map(({ node_id }) => node_id)))
        await sql`select pg_notify(${REVOKED_CHANNEL}, ${nodeId})`.execute(tx);
    });
    await sql`
      delete from node_certificates where serial_number in (
        select c.serial_number from node_certificates c
        where c.expires_at < now() - interval '30 days' and exists (
          select from node_certificates newer where newer.node_id = c.node_id and newer.issued_at > c.issued_at)
        limit ${AT_A_TIME})`.execute(db);
  },
};
