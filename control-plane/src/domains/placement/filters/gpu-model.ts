import type { Filter } from './filter.ts';

export const gpuModel: Filter = {
  name: 'gpu_model',
  reason: 'with another GPU model',
  keeps: (request, node) => request.gpuModel === null || node.gpuModel === request.gpuModel,
};
