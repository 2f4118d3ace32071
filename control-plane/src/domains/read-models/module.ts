import type { FleetServices } from '../fleet/needs.ts';
import { allocationOverviewConsumer } from './project-allocations.ts';
import { nodeOverviewConsumer } from './project-nodes.ts';

export const readModelsModule = {
  consumers: ({ services }: { services: FleetServices }) => [
    allocationOverviewConsumer(services.db),
    nodeOverviewConsumer(services),
  ],
};
