import type { Services } from '../../platform/services.ts';
import { accessRoutes } from './access-routes.ts';
import { tenancyLimits } from './limits.ts';
import type { ClosingHook, ResourceOwner } from './owned-resources.ts';
import { tenancyRoutes } from './routes.ts';
import { warnBeforeRotationEnd } from './service-accounts/warn-before-rotation-end.ts';

interface TenancyContext {
  services: Services;
  publicUrl: string;
  /** Resources and closing hooks that other domains provide. */
  owners: readonly ResourceOwner[];
  closing: readonly ClosingHook[];
}

export const tenancyModule = {
  routes: ({ services, publicUrl, owners, closing }: TenancyContext) => ({
    ...tenancyRoutes(),
    ...accessRoutes(services, { publicUrl, owners, atClosing: closing }),
  }),
  limits: tenancyLimits,
  ticks: () => [warnBeforeRotationEnd],
};
