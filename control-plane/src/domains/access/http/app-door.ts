import type { Door } from '../door.ts';
import type { App } from './app.ts';
import type { AppDirectory } from './app-directory.ts';

/** Visits of one app per gateway: a visit is one credential, however many requests it sends. */
const MAX_VISITS = 1000;

/** Into a running app, for its owner or for its project. */
export function appDoor(apps: AppDirectory): Door<App> {
  return {
    subject: 'app_instance',
    permission: 'app_instance.open',
    endsOn: new Set(),
    closedMessage: 'The app has stopped.',
    forbiddenMessage: 'You may not use this app.',
    maxVisits: () => MAX_VISITS,
    admits: ({ sharing, ownerId }, actorId) => sharing === 'project' || ownerId === actorId,
    isOpen: ({ phase }) => phase === 'running',
    find: (db, ids) => apps.byId(db, ids),
  };
}
