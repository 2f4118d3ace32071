import type { Filter } from './filter.ts';

export const connected: Filter = {
  name: 'connected',
  reason: 'not reachable at the moment',
  keeps: (_request, node) => node.connected,
};
