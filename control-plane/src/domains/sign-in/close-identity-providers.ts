import type { ClosingHook } from '../tenancy/owned-resources.ts';
import { deleteIdentityProvider } from './update-identity-provider.ts';

/**
 * Identity providers of a closed tenant no longer sign anyone in, and other tenants can claim their domains.
 * New people get no rights in a closed project.
 */
export const closeIdentityProviders: ClosingHook = async (tx, { organizationId, projectId }) => {
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
