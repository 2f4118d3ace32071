import type { Services } from '../../platform/services.ts';
import { appCatalogRoutes } from './catalog/routes.ts';
import { admitWaiting } from './instances/admit-waiting.ts';
import { followAllocations } from './instances/follow-allocations.ts';
import { appInstanceRoutes } from './instances/routes.ts';
import { appLimits } from './limits.ts';
import { pruneApps } from './logs/prune-apps.ts';
import { appStartWorkflow } from './runtime/start.workflow.ts';
import { appStopWorkflow } from './runtime/stop.workflow.ts';
import { watchLifecycle } from './watch-lifecycle.ts';

export const appsModule = {
  routes: ({ services }: { services: Services }) => ({
    ...appCatalogRoutes(services),
    ...appInstanceRoutes(services),
  }),
  ticks: () => [admitWaiting, followAllocations, watchLifecycle, pruneApps],
  workflows: [appStartWorkflow, appStopWorkflow],
  limits: appLimits,
};
