import type { Services } from '../../platform/services.ts';
import { taskRoutes } from './routes.ts';

export const tasksModule = {
  routes: ({ services }: { services: Services }) => taskRoutes(services),
};
