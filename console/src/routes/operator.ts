import { createRoute } from '@tanstack/react-router';
import { lazyPage } from './lazy-page.ts';
import {
  auditSearch,
  fleetMapSearch,
  incidentsSearch,
  nodeSearch,
  operatorAllocationsSearch,
  placementSearch,
  policiesSearch,
  policySearch,
  moneySearch,
  pricesSearch,
  tasksSearch,
} from '../search-params.ts';
import { signedIn } from './signed-in.ts';

const fleet = createRoute({
  getParentRoute: () => signedIn,
  path: '/operator/fleet',
  validateSearch: fleetMapSearch,
  component: lazyPage(() => import('../fleet/map/fleet-map-page.tsx'), 'FleetMapPage'),
});

const utilisation = createRoute({
  getParentRoute: () => signedIn,
  path: '/operator/utilisation',
  validateSearch: moneySearch,
  component: lazyPage(() => import('../fleet/utilisation/utilisation-page.tsx'), 'UtilisationPage'),
});

const nodes = createRoute({
  getParentRoute: () => signedIn,
  path: '/operator/nodes',
  component: lazyPage(() => import('../fleet/nodes/nodes-page.tsx'), 'NodesPage'),
});

const node = createRoute({
  getParentRoute: () => signedIn,
  path: '/operator/nodes/$nodeId',
  validateSearch: nodeSearch,
  component: lazyPage(() => import('../fleet/nodes/node-page.tsx'), 'NodePage'),
});

const incidents = createRoute({
  getParentRoute: () => signedIn,
  path: '/operator/incidents',
  validateSearch: incidentsSearch,
  component: lazyPage(() => import('../incidents/incidents-page.tsx'), 'IncidentsPage'),
});

const incident = createRoute({
  getParentRoute: () => signedIn,
  path: '/operator/incidents/$incidentId',
  component: lazyPage(() => import('../incidents/incident-page.tsx'), 'IncidentPage'),
});

const cleanup = createRoute({
  getParentRoute: () => signedIn,
  path: '/operator/cleanup',
  component: lazyPage(() => import('../cleanup/cleanup-page.tsx'), 'CleanupPage'),
});

const tasks = createRoute({
  getParentRoute: () => signedIn,
  path: '/operator/tasks',
  validateSearch: tasksSearch,
  component: lazyPage(() => import('../tasks/tasks-page.tsx'), 'TasksPage'),
});

const task = createRoute({
  getParentRoute: () => signedIn,
  path: '/operator/tasks/$taskId',
  component: lazyPage(() => import('../tasks/task-page.tsx'), 'TaskPage'),
});

const policies = createRoute({
  getParentRoute: () => signedIn,
  path: '/operator/policies',
  validateSearch: policiesSearch,
  component: lazyPage(() => import('../policies/policies-page.tsx'), 'PoliciesPage'),
});

const policy = createRoute({
  getParentRoute: () => signedIn,
  path: '/operator/policies/$policyName',
  validateSearch: policySearch,
  component: lazyPage(() => import('../policies/policy-page.tsx'), 'PolicyPage'),
});

const audit = createRoute({
  getParentRoute: () => signedIn,
  path: '/operator/audit',
  validateSearch: auditSearch,
  component: lazyPage(() => import('../audit/platform-audit-page.tsx'), 'PlatformAuditPage'),
});

const enrolments = createRoute({
  getParentRoute: () => signedIn,
  path: '/operator/enrolments',
  component: lazyPage(() => import('../operator/enrolments-page.tsx'), 'EnrolmentsPage'),
});

const maas = createRoute({
  getParentRoute: () => signedIn,
  path: '/operator/maas',
  component: lazyPage(() => import('../maas/maas-page.tsx'), 'MaasPage'),
});

const authorities = createRoute({
  getParentRoute: () => signedIn,
  path: '/operator/authorities',
  component: lazyPage(() => import('../operator/authorities-page.tsx'), 'AuthoritiesPage'),
});

const products = createRoute({
  getParentRoute: () => signedIn,
  path: '/operator/products',
  component: lazyPage(() => import('../operator/products-page.tsx'), 'ProductsPage'),
});

const lab = createRoute({
  getParentRoute: () => signedIn,
  path: '/operator/lab',
  component: lazyPage(() => import('../operator/lab-page.tsx'), 'LabPage'),
});

const operatorAllocations = createRoute({
  getParentRoute: () => signedIn,
  path: '/operator/allocations',
  validateSearch: operatorAllocationsSearch,
  component: lazyPage(
    () => import('../operator-allocations/allocations-page.tsx'),
    'OperatorAllocationsPage',
  ),
});

const operatorAllocation = createRoute({
  getParentRoute: () => signedIn,
  path: '/operator/allocations/$allocationId',
  component: lazyPage(() => import('../operator-allocations/allocation-page.tsx'), 'OperatorAllocationPage'),
});

const placement = createRoute({
  getParentRoute: () => signedIn,
  path: '/operator/placement',
  validateSearch: placementSearch,
  component: lazyPage(() => import('../placement/placement-page.tsx'), 'PlacementPage'),
});

const people = createRoute({
  getParentRoute: () => signedIn,
  path: '/operator/people',
  component: lazyPage(() => import('../operator/people-page.tsx'), 'PeoplePage'),
});

const tenants = createRoute({
  getParentRoute: () => signedIn,
  path: '/operator/tenants',
  component: lazyPage(() => import('../tenants/tenants-page.tsx'), 'TenantsPage'),
});

const tenant = createRoute({
  getParentRoute: () => signedIn,
  path: '/operator/tenants/$tenantId',
  component: lazyPage(() => import('../tenants/tenant-page.tsx'), 'TenantPage'),
});

const prices = createRoute({
  getParentRoute: () => signedIn,
  path: '/operator/prices',
  validateSearch: pricesSearch,
  component: lazyPage(() => import('../catalog/prices-page.tsx'), 'PricesPage'),
});

const regions = createRoute({
  getParentRoute: () => signedIn,
  path: '/operator/regions',
  component: lazyPage(() => import('../catalog/regions-page.tsx'), 'RegionsPage'),
});

const images = createRoute({
  getParentRoute: () => signedIn,
  path: '/operator/images',
  component: lazyPage(() => import('../catalog/images-page.tsx'), 'ImagesPage'),
});

export const operatorRoutes = [
  fleet,
  utilisation,
  nodes,
  node,
  incidents,
  incident,
  cleanup,
  tasks,
  task,
  policies,
  policy,
  audit,
  enrolments,
  maas,
  authorities,
  products,
  operatorAllocations,
  operatorAllocation,
  placement,
  tenants,
  tenant,
  people,
  prices,
  regions,
  images,
  lab,
] as const;
