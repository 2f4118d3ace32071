import { permissionsAnywhere } from '../../../platform/auth/caller.ts';
import type { Policies } from '../../../platform/policy/policies.ts';
import { holdsInProject, type Door } from '../door.ts';
import type { App } from './app.ts';
import type { AppDirectory } from './app-directory.ts';

/** Visits of one app per gateway: a visit is one credential, however many requests it sends. */
const MAX_VISITS = 1000;

/** Stands for everybody who opens a public app without a sign-in, a key or a link. */
export const ANYBODY = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** Into a running app, for people and service accounts that it is shared with. */
export function appDoor(apps: AppDirectory): Door<App> {
  const permission = 'app_instance.open';
  return {
    ...anyAppDoor(apps),
    subject: 'app_instance',
    permission,
    admits(app, { actorId }, rights) {
      const { sharing, ownerId, organizationId } = app;
      if (sharing === 'organization' || sharing === 'public')
        return permissionsAnywhere(rights, organizationId).has(permission);
      return (sharing === 'project' || ownerId === actorId) && holdsInProject({ permission }, app, rights);
    },
  };
}

/**
 * Into a running app without a sign-in: with a share link, whose id is the visitor's, or because the app is public. It
 * counts its visits separately, so that a crowd does not keep the owner out.
 */
export function anonymousAppDoor(apps: AppDirectory, policies: Policies): Door<App> {
  return {
    ...anyAppDoor(apps),
    subject: 'anonymous_app_instance',
    permission: 'app_instance.open',
    admits: (app, { actorId }) => (actorId === ANYBODY ? isPublic(app, policies) : app.links.has(actorId)),
  };
}

/** The policy counts when the app is opened, too: turning it off ends public visits. */
export function isPublic({ sharing, organizationId }: App, policies: Policies): boolean {
  return sharing === 'public' && policies.get('apps.public_sharing', { organizationId });
}

function anyAppDoor(apps: AppDirectory) {
  return {
    endsOn: new Set<string>(),
    closedMessage: 'The app has stopped.',
    forbiddenMessage: 'You may not use this app.',
    maxVisits: () => MAX_VISITS,
    isOpen: ({ phase }: App) => phase === 'running',
    find: apps.byId,
  };
}
