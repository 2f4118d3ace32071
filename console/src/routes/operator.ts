import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import {
  auditSearch,
  fleetMapSearch,
  incidentsSearch,
  nodeSearch,
  policiesSearch,
  policySearch,
  tasksSearch,
} from '../search-params.ts';
import { signedIn } from './signed-in.ts';

const fleet = createRoute({
  getParentRoute: () => signedIn,
  path: '/operator/fleet',
  validateSearch: fleetMapSearch,
  component: lazyRouteComponent(() => import('../fleet/fleet-map-page.tsx'), 'FleetMapPage'),
});

const nodes = createRoute({
  getParentRoute: () => signedIn,
  path: '/operator/nodes',
  component: lazyRouteComponent(() => import('../fleet/nodes-page.tsx'), 'NodesPage'),
});

const node = createRoute({
  getParentRoute: () => signedIn,
  path: '/operator/nodes/$nodeId',
  validateSearch: nodeSearch,
  component: lazyRouteComponent(() => import('../fleet/node-page.tsx'), 'NodePage'),
});

const incidents = createRoute({
  getParentRoute: () => signedIn,
  path: '/operator/incidents',
  validateSearch: incidentsSearch,
  component: lazyRouteComponent(() => import('../incidents/incidents-page.tsx'), 'IncidentsPage'),
});

const incident = createRoute({
  getParentRoute: () => signedIn,
  path: '/operator/incidents/$incidentId',
  component: lazyRouteComponent(() => import('../incidents/incident-page.tsx'), 'IncidentPage'),
});

const cleanup = createRoute({
  getParentRoute: () => signedIn,
  path: '/operator/cleanup',
  component: lazyRouteComponent(() => import('../cleanup/cleanup-page.tsx'), 'CleanupPage'),
});

const tasks = createRoute({
  getParentRoute: () => signedIn,
  path: '/operator/tasks',
  validateSearch: tasksSearch,
  component: lazyRouteComponent(() => import('../tasks/tasks-page.tsx'), 'TasksPage'),
});

const task = createRoute({
  getParentRoute: () => signedIn,
  path: '/operator/tasks/$taskId',
  component: lazyRouteComponent(() => import('../tasks/task-page.tsx'), 'TaskPage'),
});

const policies = createRoute({
  getParentRoute: () => signedIn,
  path: '/operator/policies',
  validateSearch: policiesSearch,
  component: lazyRouteComponent(() => import('../policies/policies-page.tsx'), 'PoliciesPage'),
});

const policy = createRoute({
  getParentRoute: () => signedIn,
  path: '/operator/policies/$policyName',
  validateSearch: policySearch,
  component: lazyRouteComponent(() => import('../policies/policy-page.tsx'), 'PolicyPage'),
});

const audit = createRoute({
  getParentRoute: () => signedIn,
  path: '/operator/audit',
  validateSearch: auditSearch,
  component: lazyRouteComponent(() => import('../audit/platform-audit-page.tsx'), 'PlatformAuditPage'),
});

const enrolments = createRoute({
  getParentRoute: () => signedIn,
  path: '/operator/enrolments',
  component: lazyRouteComponent(() => import('../operator/enrolments-page.tsx'), 'EnrolmentsPage'),
});

const authorities = createRoute({
  getParentRoute: () => signedIn,
  path: '/operator/authorities',
  component: lazyRouteComponent(() => import('../operator/authorities-page.tsx'), 'AuthoritiesPage'),
});

const products = createRoute({
  getParentRoute: () => signedIn,
  path: '/operator/products',
  component: lazyRouteComponent(() => import('../operator/products-page.tsx'), 'ProductsPage'),
});

const lab = createRoute({
  getParentRoute: () => signedIn,
  path: '/operator/lab',
  component: lazyRouteComponent(() => import('../operator/lab-page.tsx'), 'LabPage'),
});

export const operatorRoutes = [
  fleet,
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
  authorities,
  products,
  lab,
] as const;
