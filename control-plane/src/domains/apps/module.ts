import type { Services } from '../../platform/services.ts';
import { registryHost } from './artifacts/artifact-ref.ts';
import { appArtifactRoutes } from './artifacts/routes.ts';
import { watchSmokeRuns } from './artifacts/smoke-runs/watch-smoke-runs.ts';
import { watchArtifacts } from './artifacts/watch-artifacts.ts';
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
  routes: ({ services, publicUrl }: { services: Services; publicUrl: string }) => ({
    ...appCatalogRoutes(services, registryHost(publicUrl)),
    ...appArtifactRoutes(services, registryHost(publicUrl)),
    ...appInstanceRoutes(services),
  }),
  ticks: () => [admitWaiting, followAllocations, watchLifecycle, watchArtifacts, watchSmokeRuns, pruneApps],
  workflows: [appStartWorkflow, appStopWorkflow],
  limits: appLimits,
};
