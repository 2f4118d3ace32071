import { unwrap } from '@gpuaas/sdk/problem';
import { client } from '../client.ts';
import { pagedQuery } from '../paged.ts';
import { organizationKeys } from '../query-keys.ts';

export const statementsQuery = (organizationId: string) =>
  pagedQuery(organizationKeys.statements(organizationId), (page, signal) =>
    unwrap(
      client.GET('/api/v1/billing/statements', {
        params: { query: { organization_id: organizationId, ...page } },
        signal,
      }),
    ),
  );
