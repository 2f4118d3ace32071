import type { Services } from '../../platform/services.ts';
import { incidentRoutes } from './routes.ts';
import { watchBackgroundWork } from './watch-background-work.ts';
import { watchDeadlines, type OverdueSource } from './watch-deadlines.ts';

export const incidentsModule = {
  routes: ({ services }: { services: Services }) => incidentRoutes(services),
  ticks: ({ overdue }: { overdue: readonly OverdueSource[] }) => [
    watchDeadlines(overdue),
    watchBackgroundWork,
  ],
};
