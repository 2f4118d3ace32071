import type { Services } from '../../platform/services.ts';
import { notifyPeople, type EmailOptions } from './notify-people.ts';
import { pruneNotifications } from './prune-notifications.ts';
import { notificationRoutes } from './routes.ts';

export const notificationsModule = {
  routes: ({ services }: { services: Services }) => notificationRoutes(services),
  ticks: () => [pruneNotifications],
  consumers: ({ services, email }: { services: Services; email: EmailOptions | null }) => [
    notifyPeople(services, email),
  ],
};
