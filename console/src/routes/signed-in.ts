import { createRootRoute, createRoute, redirect, retainSearchParams } from '@tanstack/react-router';
import { lazyPage } from './lazy-page.ts';
import { queryClient } from '../api/query-client.ts';
import { meQuery } from '../api/me.ts';
import { projectSearch } from '../search-params.ts';
import { PageNotFound } from '../shell/page-not-found.tsx';
import { RouteError } from '../shell/route-error.tsx';

export const root = createRootRoute({ notFoundComponent: PageNotFound, errorComponent: RouteError });

/** The frame of every page that needs a sign-in. */
export const signedIn = createRoute({
  getParentRoute: () => root,
  id: 'signed-in',
  validateSearch: projectSearch,
  search: { middlewares: [retainSearchParams(['project'])] },
  beforeLoad: async ({ location }) => {
    // From the cache while the server does not answer; a sign-in that ended is noticed by the next answer.
    const me = await queryClient.ensureQueryData({ ...meQuery, revalidateIfStale: true });
    if (!me) throw redirect({ to: '/', search: { return_to: location.href } });
  },
  component: lazyPage(() => import('../shell/app-shell.tsx'), 'AppShell'),
});
