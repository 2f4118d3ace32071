import { entitlementRoutes } from './entitlement-routes.ts';
import { imageRoutes } from './image-routes.ts';
import type { CatalogServices } from './needs.ts';
import { priceRoutes } from './prices/price-routes.ts';
import { catalogRoutes } from './routes.ts';

export const catalogModule = {
  routes: ({ services }: { services: CatalogServices }) => ({
    ...catalogRoutes(services),
    ...entitlementRoutes(services),
    ...imageRoutes(services),
    ...priceRoutes(services),
  }),
};
