import { queryOptions } from '@tanstack/react-query';
import { unwrap } from '@gpuaas/sdk/problem';
import type { AuditSearch } from '../../search-params.ts';
import { client } from '../client.ts';
import { pagedQuery } from '../paged.ts';
import { operatorKeys, organizationKeys } from '../query-keys.ts';

export const organizationAuditQuery = (organizationId: string, filter: AuditSearch) =>
  pagedQuery([...organizationKeys.audit(organizationId), filter], (page, signal) =>
    unwrap(
      client.GET('/api/v1/organizations/{organization_id}/audit-logs', {
        params: { path: { organization_id: organizationId }, query: { ...filter, ...page } },
        signal,
      }),
    ),
  );

export const platformAuditQuery = (filter: AuditSearch) =>
  pagedQuery([...operatorKeys.audit, filter], (page, signal) =>
    unwrap(client.GET('/api/v1/admin/audit-logs', { params: { query: { ...filter, ...page } }, signal })),
  );

/** The sealed ends of the audit chain, newest first, with the key that proves their signatures. */
export const auditCheckpointsQuery = queryOptions({
  queryKey: operatorKeys.auditChain,
  queryFn: ({ signal }) =>
    unwrap(client.GET('/api/v1/admin/audit-logs/checkpoints', { params: { query: { limit: 5 } }, signal })),
});

export function verifyAuditChain() {
  return unwrap(client.GET('/api/v1/admin/audit-logs/verification', { params: { query: {} } }));
}
