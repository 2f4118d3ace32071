import type { Services } from '../../../platform/services.ts';
import type { AppSites } from './describe-address.ts';
import { pruneShareLinks } from './prune-share-links.ts';
import { appAddressRoutes } from './routes.ts';
import { shareLinkRoutes } from './share-link-routes.ts';

export const appAddressesModule = {
  routes: ({ services, ...sites }: AppSites & { services: Services }) => ({
    ...appAddressRoutes(services, sites),
    ...shareLinkRoutes(services, sites),
  }),
  retention: [pruneShareLinks],
};
