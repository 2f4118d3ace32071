import type { CandidateNode, SliceRequest } from './place-slice.ts';

export interface NodeFilter {
  name: string;
  /** Why a node that fails it cannot serve the request, in words a tenant may read. */
  reason: string;
  keeps(request: SliceRequest, node: CandidateNode): boolean;
}

/** In the order they are applied; a node counts under the first filter that rejects it. */
export const filters: readonly NodeFilter[] = [
  {
    name: 'region',
    reason: 'in another region',
    keeps: (request, node) => node.region === request.region,
  },
  {
    name: 'slice_mode',
    reason: 'not in slice mode',
    keeps: (_request, node) => node.mode === 'slice',
  },
  {
    name: 'gpu_model',
    reason: 'with another GPU model',
    keeps: (request, node) => node.gpuModel === request.gpuModel,
  },
  {
    name: 'connected',
    reason: 'not reachable at the moment',
    keeps: (_request, node) => node.connected,
  },
  {
    name: 'not_draining',
    reason: 'being drained or kept back',
    keeps: (_request, node) => !node.draining,
  },
  {
    name: 'enough_free_slots',
    reason: 'with too few free slots',
    keeps: (request, node) => node.freeSlots.length >= request.gpuCount,
  },
];
