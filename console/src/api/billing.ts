import { queryOptions } from '@tanstack/react-query';
import { unwrap } from '@gpuaas/sdk/problem';
import { client } from './client.ts';
import { pagedQuery } from './paged.ts';
import { organizationKeys } from './query-keys.ts';

/** Usage is debited by the minute and no event tells of it. */
const LOOK_AGAIN_MS = 15_000;

export const balanceQuery = (organizationId: string) =>
  queryOptions({
    queryKey: organizationKeys.balance(organizationId),
    queryFn: ({ signal }) =>
      unwrap(
        client.GET('/api/v1/billing/balance', {
          params: { query: { organization_id: organizationId } },
          signal,
        }),
      ),
    refetchInterval: LOOK_AGAIN_MS,
  });

export const ledgerQuery = (organizationId: string) =>
  pagedQuery(organizationKeys.ledger(organizationId), (page, signal) =>
    unwrap(
      client.GET('/api/v1/billing/ledger', {
        params: { query: { organization_id: organizationId, ...page } },
        signal,
      }),
    ),
  );
