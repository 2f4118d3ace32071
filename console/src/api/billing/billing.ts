import { queryOptions } from '@tanstack/react-query';
import { unwrap } from '@gpuaas/sdk/problem';
import { client } from '../client.ts';
import { pagedQuery } from '../paged.ts';
import { organizationKeys } from '../query-keys.ts';

/** Usage is debited every minute without an event. */
const REFETCH_MS = 15_000;

/** Balance, rate of spending and run-out date; the rate of one project if it is named. */
export const spendQuery = (organizationId: string, projectId?: string) =>
  queryOptions({
    queryKey: [...organizationKeys.spend(organizationId), projectId ?? null],
    queryFn: ({ signal }) =>
      unwrap(
        client.GET('/api/v1/billing/spend', {
          params: {
            query: { organization_id: organizationId, ...(projectId ? { project_id: projectId } : {}) },
          },
          signal,
        }),
      ),
    refetchInterval: REFETCH_MS,
  });

export const usageQuery = (organizationId: string) =>
  pagedQuery(
    organizationKeys.usage(organizationId),
    (page, signal) =>
      unwrap(
        client.GET('/api/v1/billing/usage', {
          params: { query: { organization_id: organizationId, ...page } },
          signal,
        }),
      ),
    REFETCH_MS,
  );

export const ledgerQuery = (organizationId: string) =>
  pagedQuery(organizationKeys.ledger(organizationId), (page, signal) =>
    unwrap(
      client.GET('/api/v1/billing/ledger', {
        params: { query: { organization_id: organizationId, ...page } },
        signal,
      }),
    ),
  );
