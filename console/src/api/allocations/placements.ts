import { queryOptions } from '@tanstack/react-query';
import { unwrap } from '@gpuaas/sdk/problem';
import { client } from '../client.ts';
import { catalogKeys } from '../query-keys.ts';

export interface TrialLaunch {
  sku: string;
  gpu_count: number;
  region: string;
  max_duration_seconds?: number;
}

export interface PlacementRequest extends TrialLaunch {
  project_id: string;
}

/** A dry run of a launch, refreshed as often as the stock. */
export const placementQuery = (request: PlacementRequest) => explainQuery(request);

/** A dry run without a project: whether and where the fleet has capacity. */
export const explainQuery = (request: TrialLaunch | PlacementRequest) =>
  queryOptions({
    queryKey: [...catalogKeys.skus, 'explain', request],
    queryFn: ({ signal }) => unwrap(client.POST('/api/v1/placements/explain', { body: request, signal })),
    refetchInterval: 10_000,
  });
