import type { Services } from '../../platform/services.ts';
import { webhookFanOut } from './fan-out.ts';
import { ownedWebhooks } from './owned-webhooks.ts';
import { webhookRoutes } from './routes.ts';

export const webhooksModule = {
  routes: ({ services }: { services: Services }) => webhookRoutes(services),
  consumers: ({ services }: { services: Services }) => [webhookFanOut(services.db)],
  owners: () => [ownedWebhooks],
};
