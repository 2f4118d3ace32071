import { createRoute } from '@tanstack/react-router';
import { lazyPage } from './lazy-page.ts';
import { appLaunchSearch, appsSearch, workloadsSearch } from '../search-params.ts';
import { signedIn } from './signed-in.ts';

const workloads = createRoute({
  getParentRoute: () => signedIn,
  path: '/workloads',
  validateSearch: workloadsSearch,
  component: lazyPage(() => import('../workloads/workloads-page.tsx'), 'WorkloadsPage'),
});

const workload = createRoute({
  getParentRoute: () => signedIn,
  path: '/workloads/$instanceId',
  component: lazyPage(() => import('../workloads/workload-page.tsx'), 'WorkloadPage'),
});

const apps = createRoute({
  getParentRoute: () => signedIn,
  path: '/apps',
  validateSearch: appsSearch,
  component: lazyPage(() => import('../apps/apps-page.tsx'), 'AppsPage'),
});

const app = createRoute({
  getParentRoute: () => signedIn,
  path: '/apps/$appSlug',
  validateSearch: appLaunchSearch,
  component: lazyPage(() => import('../apps/launch/app-launch-page.tsx'), 'AppLaunchPage'),
});

export const appRoutes = [workloads, workload, apps, app] as const;
