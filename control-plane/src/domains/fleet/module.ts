import type { WorkflowDefinition } from '../../platform/workflows/definition.ts';
import { convertNodeWorkflow } from './conversion/convert-node.workflow.ts';
import { inspectHosts } from './health/inspect-hosts.ts';
import { authorityRoutes } from './identity/authority-routes.ts';
import { retireUnusedAuthorities } from './identity/retire-unused-authorities.ts';
import { identityRoutes } from './identity/routes.ts';
import { tidyCertificates } from './identity/tidy-certificates.ts';
import { prunePlacementChanges } from './index/prune-changes.ts';
import type { Lab } from './lab/lab.ts';
import { labRoutes } from './lab/routes.ts';
import { watchMaintenance } from './maintenance/watch-maintenance.ts';
import type { FleetServices } from './needs.ts';
import { onboardNodeWorkflow } from './onboarding/onboard-node.workflow.ts';
import { maasRoutes } from './onboarding/routes.ts';
import { nodeOperationRoutes } from './operation-routes.ts';
import { reconcileNodes } from './reconcile-nodes.ts';
import { fleetRoutes } from './routes.ts';
import { slotRoutes } from './slot-routes.ts';

const workflows: readonly WorkflowDefinition<FleetServices, never>[] = [
  convertNodeWorkflow,
  onboardNodeWorkflow,
];

export const fleetModule = {
  routes: ({ services, lab }: { services: FleetServices; lab: Lab | null }) => ({
    ...fleetRoutes(services),
    ...nodeOperationRoutes(services),
    ...slotRoutes(services),
    ...identityRoutes(services),
    ...authorityRoutes(services),
    ...maasRoutes(services),
    ...labRoutes(lab),
  }),
  ticks: () => [watchMaintenance, reconcileNodes(), inspectHosts, retireUnusedAuthorities, tidyCertificates],
  workflows,
  retention: [prunePlacementChanges],
};
