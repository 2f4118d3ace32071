import { queryOptions } from '@tanstack/react-query';
import { unwrap } from '@gpuaas/sdk/problem';
import { client } from './client.ts';
import { catalogKeys } from './query-keys.ts';

export interface WhatIf {
  sku: string;
  gpu_count: number;
  region: string;
  max_duration_seconds?: number;
}

export interface PlacementRequest extends WhatIf {
  project_id: string;
}

/** A dry run of a launch, asked again as often as the stock is. */
export const placementQuery = (request: PlacementRequest) => explainQuery(request);

/** The same without a project: whether and where the fleet has room. */
export const explainQuery = (request: WhatIf | PlacementRequest) =>
  queryOptions({
    queryKey: [...catalogKeys.skus, 'explain', request],
    queryFn: ({ signal }) => unwrap(client.POST('/api/v1/placements/explain', { body: request, signal })),
    refetchInterval: 10_000,
  });
