import type { Services } from '../../platform/services.ts';
import { apiKeyRoutes } from './api-keys/routes.ts';
import { invitationRoutes } from './invitations/routes.ts';
import { memberRoutes } from './members/routes.ts';
import { organizationRoutes } from './organizations/routes.ts';
import type { ClosingHook, ResourceOwner } from './owned-resources.ts';
import { permissionBindingRoutes } from './permission-bindings/routes.ts';
import { permissionGroupRoutes } from './permission-groups/routes.ts';
import { projectRoutes } from './projects/routes.ts';
import { ownedServiceAccounts } from './service-accounts/owned-service-accounts.ts';
import { serviceAccountRoutes } from './service-accounts/routes.ts';
import { sshKeyRoutes } from './ssh-keys/routes.ts';
import { teamRoutes } from './teams/routes.ts';

/** Routes of tenants, their people and their keys. `owners` and `atClosing` come from other domains. */
export function accessRoutes(
  services: Services,
  options: { publicUrl: string; owners: readonly ResourceOwner[]; atClosing: readonly ClosingHook[] },
) {
  const owners = [...options.owners, ownedServiceAccounts];
  return {
    ...organizationRoutes(owners, options.atClosing),
    ...projectRoutes(owners, options.atClosing),
    ...memberRoutes(owners),
    ...invitationRoutes(services, options.publicUrl),
    ...teamRoutes(),
    ...permissionGroupRoutes(),
    ...permissionBindingRoutes(),
    ...serviceAccountRoutes(services),
    ...apiKeyRoutes(services),
    ...sshKeyRoutes(),
  };
}
