import {
  createRootRoute,
  createRoute,
  lazyRouteComponent,
  redirect,
  retainSearchParams,
} from '@tanstack/react-router';
import { queryClient } from '../api/query-client.ts';
import { meQuery } from '../api/session.ts';
import { projectSearch } from '../search-params.ts';
import { NoSuchPage } from '../shell/no-such-page.tsx';
import { RouteError } from '../shell/route-error.tsx';

export const root = createRootRoute({ notFoundComponent: NoSuchPage, errorComponent: RouteError });

/** The frame of every page that needs a session. */
export const signedIn = createRoute({
  getParentRoute: () => root,
  id: 'signed-in',
  validateSearch: projectSearch,
  search: { middlewares: [retainSearchParams(['project'])] },
  beforeLoad: async ({ location }) => {
    const me = await queryClient.fetchQuery(meQuery);
    if (!me) throw redirect({ to: '/', search: { return_to: location.href } });
  },
  component: lazyRouteComponent(() => import('../shell/app-shell.tsx'), 'AppShell'),
});
