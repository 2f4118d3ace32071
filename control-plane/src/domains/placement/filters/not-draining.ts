import type { Filter } from './filter.ts';

export const notDraining: Filter = {
  name: 'not_draining',
  reason: 'being drained',
  keeps: (_request, node) => !node.draining,
};
