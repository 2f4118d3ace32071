import { queryOptions } from '@tanstack/react-query';
import type { components } from '@gpuaas/sdk/contract';
import { unwrap } from '@gpuaas/sdk/problem';
import { client } from '../client.ts';
import { pagedQuery } from '../paged.ts';
import { operatorKeys, organizationKeys } from '../query-keys.ts';
import type { ReportPeriod } from './reports.ts';

export type AppUsageSum = components['schemas']['AppUsageSum'];
export type AppUsagePrice = components['schemas']['AppUsagePrice'];
export type AppUsageDimension = components['schemas']['AppUsageDimension'];
export type NewAppUsagePrice = components['schemas']['CreateAppUsagePrice'];

/** As many lines as one answer has. */
const LIMIT = 200;

/** A tenant's app usage in a period, and its cost beside the leases. */
export const appUsageQuery = (organizationId: string, span: ReportPeriod) =>
  queryOptions({
    queryKey: [...organizationKeys.appUsage(organizationId), span],
    queryFn: ({ signal }) => {
      const query = { organization_id: organizationId, ...span, limit: LIMIT };
      return unwrap(client.GET('/api/v1/billing/app-usage', { params: { query }, signal }));
    },
  });

export const appUsagePricesQuery = pagedQuery(operatorKeys.appUsagePrices, (page, signal) =>
  unwrap(client.GET('/api/v1/admin/app-usage-prices', { params: { query: page }, signal })),
);

export function addAppUsagePrice(body: NewAppUsagePrice) {
  return unwrap(client.POST('/api/v1/admin/app-usage-prices', { body }));
}
