import { randomSecret } from '../../platform/auth/secrets.ts';
import { isDatabaseError, type Tx } from '../../platform/db/database.ts';
import { notFound, Problem } from '../../platform/http/problem.ts';
import { newId } from '../../platform/ids.ts';
import type { DomainRow } from './describe-identity-provider.ts';
import type { IdentityProviderRow } from './find-identity-provider.ts';
import { signOutProvider } from './sign-out-provider.ts';
import { verificationRecord } from './verify-domain.ts';

const UNIQUE_VIOLATION = '23505';

/** Claims a domain; several tenants may claim the same one. */
export async function claimDomain(tx: Tx, provider: IdentityProviderRow, domain: string): Promise<DomainRow> {
  try {
    return await tx
      .insertInto('identity_provider_domains')
      .values({
        id: newId(),
        organization_id: provider.organization_id,
        identity_provider_id: provider.id,
        domain,
        token: randomSecret(),
      })
      .returningAll()
      .executeTakeFirstOrThrow();
  } catch (error) {
    if (!isDatabaseError(error, UNIQUE_VIOLATION)) throw error;
    throw new Problem('domain_taken', 'The provider already has this domain.');
  }
}

export async function findDomain(tx: Tx, providerId: string, domainId: string): Promise<DomainRow> {
  const row = await tx
    .selectFrom('identity_provider_domains')
    .selectAll()
    .where('id', '=', domainId)
    .where('identity_provider_id', '=', providerId)
    .executeTakeFirst();
  if (!row) throw notFound();
  return row;
}

/** From now on people of the domain sign in at this provider. The database allows one tenant per domain. */
export async function verifyDomain(tx: Tx, row: DomainRow, proven: boolean, now: Date): Promise<DomainRow> {
  if (!proven) {
    const { name, value } = verificationRecord(row);
    throw new Problem('domain_not_proven', `There is no TXT record ${name} with the text ${value} yet.`);
  }
  try {
    return await tx
      .updateTable('identity_provider_domains')
      .set({ verified_at: row.verified_at ?? now })
      .where('id', '=', row.id)
      .returningAll()
      .executeTakeFirstOrThrow();
  } catch (error) {
    if (!isDatabaseError(error, UNIQUE_VIOLATION)) throw error;
    throw new Problem('domain_taken', 'Another identity provider has the domain.');
  }
}

/** Signs out everyone who signed in with an address of the domain. */
export async function releaseDomain(tx: Tx, provider: IdentityProviderRow, row: DomainRow): Promise<void> {
  await signOutProvider(tx, provider);
  await tx.deleteFrom('identity_provider_domains').where('id', '=', row.id).execute();
}
