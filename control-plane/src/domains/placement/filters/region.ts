import type { Filter } from './filter.ts';

export const region: Filter = {
  name: 'region',
  reason: 'in another region',
  keeps: (request, node) => request.region === null || node.region === request.region,
};
