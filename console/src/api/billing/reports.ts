import { queryOptions } from '@tanstack/react-query';
import type { components } from '@gpuaas/sdk/contract';
import { unwrap } from '@gpuaas/sdk/problem';
import { client } from '../client.ts';
import { operatorKeys, organizationKeys } from '../query-keys.ts';

export type CostGroup = components['schemas']['CostGroup'];
export type RevenueGroup = components['schemas']['RevenueGroup'];
export type ReportLine = components['schemas']['ReportLine'];
export type UtilisationStep = components['schemas']['UtilisationStep'];

export interface ReportPeriod {
  from: string;
  to: string;
}

/** As many lines as one answer has; a chart or table with more would not be read. */
const LIMIT = 200;

/** A tenant's spend, leases and apps together. */
export const costsQuery = (organizationId: string, span: ReportPeriod, groupBy: CostGroup) =>
  queryOptions({
    queryKey: [...organizationKeys.costs(organizationId), span, groupBy],
    queryFn: async ({ signal }) => {
      const query = { organization_id: organizationId, ...span, group_by: groupBy, limit: LIMIT };
      return (await unwrap(client.GET('/api/v1/billing/reports/costs', { params: { query }, signal }))).items;
    },
  });

export const revenueQuery = (span: ReportPeriod, groupBy: RevenueGroup) =>
  queryOptions({
    queryKey: [...operatorKeys.revenue, span, groupBy],
    queryFn: async ({ signal }) => {
      const query = { ...span, group_by: groupBy, limit: LIMIT };
      return (await unwrap(client.GET('/api/v1/admin/reports/revenue', { params: { query }, signal }))).items;
    },
  });

export const utilisationHistoryQuery = (span: ReportPeriod, step: 'hour' | 'day') =>
  queryOptions({
    queryKey: [...operatorKeys.utilisation, span, step],
    queryFn: async ({ signal }) => {
      const query = { ...span, step, limit: LIMIT };
      const path = '/api/v1/admin/reports/utilisation/history';
      return (await unwrap(client.GET(path, { params: { query }, signal }))).items;
    },
  });

export const idleLeasesQuery = (organizationId: string) =>
  queryOptions({
    queryKey: organizationKeys.idle(organizationId),
    queryFn: async ({ signal }) => {
      const query = { organization_id: organizationId, limit: LIMIT };
      return (await unwrap(client.GET('/api/v1/billing/idle-leases', { params: { query }, signal }))).items;
    },
  });
