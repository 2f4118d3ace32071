import type { Filter } from './filter.ts';

/** A slice needs a node at least its size; a whole node is sold as exactly what it is. */
export const nodeSize: Filter = {
  name: 'node_size',
  reason: 'of another size',
  keeps: (request, node) =>
    request.shape === 'baremetal' ? node.layout.size === request.gpus : node.layout.size >= request.gpus,
};
