import type { Filter } from './filter.ts';

export const notCordoned: Filter = {
  name: 'not_cordoned',
  reason: 'kept back for tests, maintenance or a fault',
  keeps: (_request, node) => !node.cordoned,
};
