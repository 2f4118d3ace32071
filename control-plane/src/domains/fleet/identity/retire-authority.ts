import { sql } from 'kysely';
import type { Tx } from '../../../platform/db/database.ts';
import { notFound, Problem } from '../../../platform/http/problem.ts';
import { distrustAuthority } from '../../../platform/keys/authorities.ts';
import { usageByAuthority } from './list-authorities.ts';
import { REVOKED_CHANNEL } from './revoke-identity.ts';
import { lockAuthorities } from './rotate-authority.ts';

/**
 * Ends the overlap manually. Certificates that hosts have already replaced may still be valid; they end with
 * it.
 */
export async function retireAuthority(tx: Tx, now: Date, id: string, cutOff: boolean): Promise<void> {
  await lockAuthorities(tx);
  const authority = await tx
    .selectFrom('node_authorities')
    .select('state')
    .where('id', '=', id)
    .executeTakeFirst();
  if (!authority) throw notFound();
  if (authority.state === 'retired') return;
  if (authority.state === 'signing') throw new Problem('authority_signing', 'A new CA must sign before.');
  const dependants = (await usageByAuthority(tx, now)).get(id);
  if (dependants && dependants.hosts + dependants.open_enrolments > 0 && !cutOff) {
    throw new Problem(
      'authority_in_use',
      `${dependants.hosts} hosts and ${dependants.open_enrolments} open enrolments depend on it.`,
    );
  }
  await sql`update node_enrolments set revoked_at = ${now}
    where authority_id = ${id} and used_at is null and revoked_at is null`.execute(tx);
  await sql`update node_certificates set revoked_at = ${now}
    where authority_id = ${id} and revoked_at is null`.execute(tx);
  await sql`update nodes set identity_revoked_at = ${now}
    where identity_revoked_at is null
      and exists (select from node_certificates c where c.node_id = nodes.id and c.authority_id = ${id})
      and not exists (select from node_certificates c where c.node_id = nodes.id and c.revoked_at is null)`.execute(
    tx,
  );
  await distrustAuthority(tx, id, now);
  await sql`select pg_notify(${REVOKED_CHANNEL}, ${id})`.execute(tx);
}
