import { reportRoutes } from './routes.ts';
import { sampleUtilisation } from './sample-utilisation.ts';

export const reportsModule = {
  routes: () => reportRoutes(),
  ticks: () => [sampleUtilisation],
};
