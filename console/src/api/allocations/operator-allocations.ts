import { queryOptions } from '@tanstack/react-query';
import { unwrap } from '@gpuaas/sdk/problem';
import type { OperatorAllocationsSearch } from '../../search-params.ts';
import { client } from '../client.ts';
import { pagedQuery } from '../paged.ts';
import { operatorKeys } from '../query-keys.ts';

/** Allocations of all tenants. */
export const operatorAllocationsQuery = (filter: OperatorAllocationsSearch) =>
  pagedQuery([...operatorKeys.allocations, 'list', filter], (page, signal) =>
    unwrap(
      client.GET('/api/v1/admin/allocations', {
        params: {
          query: {
            ...(filter.state ? { state: filter.state } : {}),
            ...(filter.tenant ? { organization_id: filter.tenant } : {}),
            ...(filter.node ? { node_id: filter.node } : {}),
            ...page,
          },
        },
        signal,
      }),
    ),
  );

export const operatorAllocationQuery = (id: string) =>
  queryOptions({
    queryKey: operatorKeys.allocation(id),
    queryFn: ({ signal }) =>
      unwrap(client.GET('/api/v1/admin/allocations/{allocation_id}', { params: at(id), signal })),
  });

export function retryReleaseForTenant(id: string) {
  return unwrap(client.POST('/api/v1/admin/allocations/{allocation_id}/retry-release', { params: at(id) }));
}

export function forceRelease({ id, reason }: { id: string; reason: string }) {
  return unwrap(
    client.POST('/api/v1/admin/allocations/{allocation_id}/force-release', {
      params: at(id),
      body: { reason },
    }),
  );
}

function at(id: string) {
  return { path: { allocation_id: id } };
}
