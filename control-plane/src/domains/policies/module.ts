import type { Services } from '../../platform/services.ts';
import { policyRoutes } from './routes.ts';

export const policiesModule = {
  routes: ({ services }: { services: Services }) => policyRoutes(services),
};
