import { queryOptions } from '@tanstack/react-query';
import { unwrap } from '@gpuaas/sdk/problem';
import { client } from './client.ts';
import { catalogKeys } from './query-keys.ts';

export interface PlacementRequest {
  sku: string;
  gpu_count: number;
  region: string;
  project_id: string;
  max_duration_seconds?: number;
}

/** A dry run of a launch, asked again as often as the stock is. */
export const placementQuery = (request: PlacementRequest) =>
  queryOptions({
    queryKey: [...catalogKeys.skus, 'explain', request],
    queryFn: ({ signal }) => unwrap(client.POST('/api/v1/placements/explain', { body: request, signal })),
    refetchInterval: 10_000,
  });
