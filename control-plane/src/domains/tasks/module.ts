import type { Services } from '../../platform/services.ts';
import { pruneTasks } from './prune-tasks.ts';
import { taskRoutes } from './routes.ts';

export const tasksModule = {
  routes: ({ services }: { services: Services }) => taskRoutes(services),
  retention: [pruneTasks],
};
