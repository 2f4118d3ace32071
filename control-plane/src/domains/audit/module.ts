import type { Services } from '../../platform/services.ts';
import { retireMonthsTick } from './retire-months.ts';
import { auditRoutes } from './routes.ts';
import { watchAuditGrowth } from './watch-growth.ts';
import { verifyChainTick, watchSealLag } from './watch-chain.ts';

export const auditModule = {
  routes: ({ services }: { services: Services }) => auditRoutes(services),
  ticks: () => [watchSealLag, watchAuditGrowth, verifyChainTick, retireMonthsTick],
};
