import { createRoute, createRouter, redirect } from '@tanstack/react-router';
import { lazyPage } from './routes/lazy-page.ts';
import { queryClient } from './api/query-client.ts';
import { meQuery } from './api/me.ts';
import { appRoutes } from './routes/apps.ts';
import { operatorRoutes } from './routes/operator.ts';
import { organizationRoutes } from './routes/organization.ts';
import { ownRoutes } from './routes/own.ts';
import { root, signedIn } from './routes/signed-in.ts';
import {
  allocationSearch,
  allocationsSearch,
  invitationSearch,
  landingSearch,
  launchSearch,
} from './search-params.ts';
import { PageError } from './shell/page-error.tsx';
import { PageNotFound } from './shell/page-not-found.tsx';
import { homePath } from './shell/home-path.ts';

const landing = createRoute({
  getParentRoute: () => root,
  path: '/',
  validateSearch: landingSearch,
  beforeLoad: async () => {
    const me = await queryClient.fetchQuery(meQuery);
    if (me) throw redirect({ to: homePath(me) });
  },
  component: lazyPage(() => import('./landing/landing-page.tsx'), 'LandingPage'),
});

/** Outside the frame, like the landing page. */
const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  validateSearch: landingSearch,
  beforeLoad: async () => {
    const me = await queryClient.fetchQuery(meQuery);
    if (me) throw redirect({ to: homePath(me) });
  },
  component: lazyPage(() => import('./sign-in/sign-in-page.tsx'), 'SignInPage'),
});

/** Outside the frame: somebody new has neither organization nor project to show there. */
const invitation = createRoute({
  getParentRoute: () => root,
  path: '/invitation',
  validateSearch: invitationSearch,
  beforeLoad: async ({ location }) => {
    const me = await queryClient.fetchQuery(meQuery);
    if (!me) throw redirect({ to: '/', search: { return_to: location.href } });
  },
  component: lazyPage(() => import('./invitation/invitation-page.tsx'), 'InvitationPage'),
});

const overview = createRoute({
  getParentRoute: () => signedIn,
  path: '/overview',
  component: lazyPage(() => import('./overview/overview-page.tsx'), 'OverviewPage'),
});

const capacity = createRoute({
  getParentRoute: () => signedIn,
  path: '/capacity',
  component: lazyPage(() => import('./capacity/capacity-page.tsx'), 'CapacityPage'),
});

const allocations = createRoute({
  getParentRoute: () => signedIn,
  path: '/allocations',
  validateSearch: allocationsSearch,
  component: lazyPage(() => import('./allocations/allocations-page.tsx'), 'AllocationsPage'),
});

const allocation = createRoute({
  getParentRoute: () => signedIn,
  path: '/allocations/$allocationId',
  validateSearch: allocationSearch,
  component: lazyPage(() => import('./allocations/allocation-page.tsx'), 'AllocationPage'),
});

const launch = createRoute({
  getParentRoute: () => signedIn,
  path: '/launch',
  validateSearch: launchSearch,
  component: lazyPage(() => import('./launch/launch-page.tsx'), 'LaunchPage'),
});

/** Inside the frame, so that the way back is one click. */
const unknown = createRoute({ getParentRoute: () => signedIn, path: '$', component: PageNotFound });

const routeTree = root.addChildren([
  landing,
  signIn,
  invitation,
  signedIn.addChildren([
    overview,
    allocations,
    allocation,
    capacity,
    launch,
    ...appRoutes,
    ...organizationRoutes,
    ...ownRoutes,
    ...operatorRoutes,
    unknown,
  ]),
]);

export const router = createRouter({
  routeTree,
  defaultPreload: 'intent',
  defaultErrorComponent: PageError,
  scrollRestoration: true,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
