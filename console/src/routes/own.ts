import { createRoute } from '@tanstack/react-router';
import { lazyPage } from './lazy-page.ts';
import { signedIn } from './signed-in.ts';

const apiKeys = createRoute({
  getParentRoute: () => signedIn,
  path: '/api-keys',
  component: lazyPage(() => import('../own/api-keys-page.tsx'), 'ApiKeysPage'),
});

const sshKeys = createRoute({
  getParentRoute: () => signedIn,
  path: '/ssh-keys',
  component: lazyPage(() => import('../ssh-keys/ssh-keys-page.tsx'), 'SshKeysPage'),
});

const signIns = createRoute({
  getParentRoute: () => signedIn,
  path: '/sign-ins',
  component: lazyPage(() => import('../own/sign-ins-page.tsx'), 'SignInsPage'),
});

const notifications = createRoute({
  getParentRoute: () => signedIn,
  path: '/notifications',
  component: lazyPage(() => import('../notifications/notifications-page.tsx'), 'NotificationsPage'),
});

/** What belongs to the person. */
export const ownRoutes = [notifications, apiKeys, sshKeys, signIns] as const;
