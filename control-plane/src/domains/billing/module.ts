import type { Services } from '../../platform/services.ts';
import { pruneRequestCounts, reconcileAppRequests } from './app-usage/reconcile-requests.ts';
import { recordAppRequests } from './app-usage/record-requests.ts';
import { appUsageRoutes } from './app-usage/routes.ts';
import { budgetRoutes } from './budgets/routes.ts';
import { watchBudgets } from './budgets/watch-budgets.ts';
import { watchBalances, type ReleaseLeases } from './funds/watch-balances.ts';
import { meterLeases } from './metering/metering-tick.ts';
import { reconcileMeters } from './metering/reconcile-meters.ts';
import { billingRoutes } from './routes.ts';

export const billingModule = {
  routes: ({ services }: { services: Services }) => ({
    ...billingRoutes(services),
    ...appUsageRoutes(services),
    ...budgetRoutes(services),
  }),
  ticks: ({ releaseLeases }: { releaseLeases: ReleaseLeases }) => [
    meterLeases,
    watchBalances(releaseLeases),
    watchBudgets(releaseLeases),
    reconcileMeters,
    recordAppRequests,
    reconcileAppRequests,
  ],
  retention: [pruneRequestCounts],
};
