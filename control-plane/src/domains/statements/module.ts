import { closeMonths } from './close-months.ts';
import { statementRoutes } from './routes.ts';

export const statementsModule = {
  routes: () => statementRoutes(),
  ticks: () => [closeMonths],
};
