import type { Services } from '../../platform/services.ts';
import { quotaRoutes } from './routes.ts';
import { watchQuotas } from './watch-quotas.ts';

export const quotasModule = {
  routes: ({ services }: { services: Services }) => quotaRoutes(services),
  ticks: () => [watchQuotas],
};
