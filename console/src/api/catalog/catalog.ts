import { queryOptions } from '@tanstack/react-query';
import { unwrap } from '@gpuaas/sdk/problem';
import { client } from '../client.ts';
import { catalogKeys } from '../query-keys.ts';

/** Products at the organization's own prices. Other tenants' launches move the stock without an event for us, so this one is always polled. */
export const skusQuery = (organizationId: string) =>
  queryOptions({
    queryKey: [...catalogKeys.skus, organizationId],
    queryFn: async ({ signal }) => {
      const params = { query: { organization_id: organizationId } };
      return (await unwrap(client.GET('/api/v1/skus', { params, signal }))).items;
    },
    refetchInterval: 10_000,
  });

export const regionsQuery = queryOptions({
  queryKey: catalogKeys.regions,
  queryFn: async ({ signal }) => (await unwrap(client.GET('/api/v1/regions', { signal }))).items,
  staleTime: 300_000,
});

export const imagesQuery = queryOptions({
  queryKey: catalogKeys.images,
  queryFn: async ({ signal }) => (await unwrap(client.GET('/api/v1/images', { signal }))).items,
  staleTime: 300_000,
});
