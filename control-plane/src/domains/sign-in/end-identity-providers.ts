import type { AtClosing } from '../tenancy/owned-resources.ts';
import { deleteIdentityProvider } from './update-identity-provider.ts';

/**
 * The providers of a tenant that is closed vouch for nobody any more, and their domains are free for others. Newcomers
 * get no rights in a project that is closed.
 */
export const endIdentityProviders: AtClosing = async (tx, { organizationId, projectId }) => {
  if (projectId !== undefined) {
    await tx
      .updateTable('identity_providers')
      .set({ newcomers_project_id: null })
      .where('organization_id', '=', organizationId)
      .where('newcomers_project_id', '=', projectId)
      .execute();
    return;
  }
  const providers = await tx
    .selectFrom('identity_providers')
    .select(['id', 'organization_id', 'issuer'])
    .where('organization_id', '=', organizationId)
    .execute();
  for (const provider of providers) await deleteIdentityProvider(tx, provider);
};
