import type { operations } from '@gpuaas/contracts/generated/openapi.ts';
import { atPlatform, authorize, type Caller } from '../../platform/auth/caller.ts';
import type { Handlers } from '../../platform/http/operation.ts';
import { reportUsage, reportUsageCsv } from './report-usage.ts';
import { reportUtilisationHistory } from './report-utilisation-history.ts';
import { reportUtilisation } from './report-utilisation.ts';

type ReportOperations = Pick<
  operations,
  | 'getCostReport'
  | 'getCostReportCsv'
  | 'getRevenueReport'
  | 'getRevenueReportCsv'
  | 'getUtilisation'
  | 'getUtilisationHistory'
>;

const CSV = 'text/csv; charset=utf-8';

export function reportRoutes(): Handlers<ReportOperations, Caller> {
  return {
    getCostReport({ caller, query: { organization_id, group_by, ...query }, read }) {
      authorize(caller, 'billing.read', { kind: 'tenant', organizationId: organization_id });
      const asked = { ...query, organizationId: organization_id, groupBy: group_by };
      return read(async (tx) => ({ status: 200, body: await reportUsage(tx, asked) }));
    },
    getCostReportCsv({ caller, query: { organization_id, group_by, ...query }, read, reply }) {
      authorize(caller, 'billing.read', { kind: 'tenant', organizationId: organization_id });
      reply.header('content-disposition', 'attachment; filename="costs.csv"');
      const asked = { ...query, organizationId: organization_id, groupBy: group_by };
      return read(async (tx) => ({ status: 200, body: await reportUsageCsv(tx, asked), mediaType: CSV }));
    },
    getRevenueReport({ caller, query: { group_by, ...query }, read }) {
      authorize(caller, 'revenue.read', atPlatform);
      const asked = { ...query, groupBy: group_by };
      return read(async (tx) => ({ status: 200, body: await reportUsage(tx, asked) }));
    },
    getRevenueReportCsv({ caller, query: { group_by, ...query }, read, reply }) {
      authorize(caller, 'revenue.read', atPlatform);
      reply.header('content-disposition', 'attachment; filename="revenue.csv"');
      const asked = { ...query, groupBy: group_by };
      return read(async (tx) => ({ status: 200, body: await reportUsageCsv(tx, asked), mediaType: CSV }));
    },
    getUtilisation({ caller, query, read }) {
      authorize(caller, 'revenue.read', atPlatform);
      return read(async (tx) => ({
        status: 200,
        body: await reportUtilisation(tx, query),
      }));
    },
    getUtilisationHistory({ caller, query, read }) {
      authorize(caller, 'revenue.read', atPlatform);
      return read(async (tx) => ({
        status: 200,
        body: await reportUtilisationHistory(tx, query),
      }));
    },
  };
}
