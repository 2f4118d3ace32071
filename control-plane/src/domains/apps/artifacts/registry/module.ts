import { collectRegistry } from './collect-registry.ts';
import { deleteRepositoriesAtClosing } from './delete-repository.ts';
import { registryRoutes } from './routes.ts';

export const registryModule = {
  routes: () => registryRoutes(),
  ticks: () => [collectRegistry],
  closing: [deleteRepositoriesAtClosing],
};
