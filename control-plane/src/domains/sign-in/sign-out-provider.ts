import { revokeSignInsOfIssuer } from '../../platform/auth/revoke-sign-ins.ts';
import type { Tx } from '../../platform/db/database.ts';
import { listHomeUsers } from '../tenancy/members/list-home-users.ts';
import type { IdentityProviderRow } from './find-identity-provider.ts';

/** Signs out everyone who signed in through a tenant's own provider. */
export async function signOutProvider(
  tx: Tx,
  { organization_id, issuer }: Pick<IdentityProviderRow, 'organization_id' | 'issuer'>,
): Promise<void> {
  await revokeSignInsOfIssuer(tx, await listHomeUsers(tx, organization_id), issuer);
}
