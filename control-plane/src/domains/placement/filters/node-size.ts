import type { Filter } from './filter.ts';

/** A slice needs a node of at least its size; a whole node is leased at exactly its size. */
export const nodeSize: Filter = {
  name: 'node_size',
  reason: 'of another size',
  keeps: (request, node) =>
    request.shape === 'baremetal' ? node.layout.size === request.gpus : node.layout.size >= request.gpus,
};
