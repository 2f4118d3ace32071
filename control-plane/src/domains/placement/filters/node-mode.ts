import type { Filter } from './filter.ts';

export const nodeMode: Filter = {
  name: 'node_mode',
  reason: 'set up for another kind of lease',
  keeps: (request, node) => node.serves.includes(request.shape),
};
