import {
  OPEN_ENDED,
  type Candidate,
  type CapacityShape,
  type PlacementRequest,
} from '../placement/candidate.ts';
import { firstRejection } from '../placement/best-node.ts';

export interface Availability {
  gpus_available: number;
  largest_slice: number;
  by_gpu_count: { gpu_count: number; available: number }[];
}

/** Free capacity of a product in a region as sums, never by host. */
export function availabilityOf(
  nodes: readonly Candidate[],
  region: string,
  product: { shape: CapacityShape; gpuModel: string; gpuCounts: readonly number[] },
): Availability {
  const { shape, gpuModel, gpuCounts } = product;
  const smallest = Math.min(...gpuCounts);
  const request: PlacementRequest = { shape, gpus: smallest, region, gpuModel, now: 0, endsAt: OPEN_ENDED };
  const free = nodes.filter((node) => firstRejection(request, node) === null).map(({ room }) => room.free);
  return {
    gpus_available: free.reduce((sum, count) => sum + count, 0),
    largest_slice: Math.max(0, ...free),
    by_gpu_count: gpuCounts.map((gpus) => ({
      gpu_count: gpus,
      available: free.reduce((sum, count) => sum + Math.floor(count / gpus), 0),
    })),
  };
}
