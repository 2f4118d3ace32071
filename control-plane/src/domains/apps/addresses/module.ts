import type { AppSites } from './describe-address.ts';
import { appAddressRoutes } from './routes.ts';

export const appAddressesModule = {
  routes: (sites: AppSites) => appAddressRoutes(sites),
};
