import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import { clientSecretContext } from './tenant-providers.ts';
import type { Tx } from '../../platform/db/database.ts';
import type { Sealer } from '../../platform/keys/seal.ts';
import { PROVIDER_COLUMNS, type IdentityProviderRow } from './find-identity-provider.ts';
import { signOutProvider } from './sign-out-provider.ts';

export async function updateIdentityProvider(
  sealer: Sealer,
  tx: Tx,
  row: IdentityProviderRow,
  change: components['schemas']['UpdateIdentityProvider'],
): Promise<IdentityProviderRow> {
  const { client_secret: secret, ...open } = change;
  if (change.enabled === false) await signOutProvider(tx, row);
  return await tx
    .updateTable('identity_providers')
    .set({
      ...open,
      ...(secret
        ? { sealed_client_secret: sealer.seal('client_secret', secret, clientSecretContext(row.id)) }
        : {}),
    })
    .where('id', '=', row.id)
    .returning(PROVIDER_COLUMNS)
    .executeTakeFirstOrThrow();
}

export async function deleteIdentityProvider(
  tx: Tx,
  row: Pick<IdentityProviderRow, 'id' | 'organization_id' | 'issuer'>,
): Promise<void> {
  await signOutProvider(tx, row);
  await tx.deleteFrom('identity_providers').where('id', '=', row.id).execute();
}
