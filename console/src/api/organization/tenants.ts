import { unwrap } from '@gpuaas/sdk/problem';
import { client } from '../client.ts';
import { pagedQuery } from '../paged.ts';
import { operatorKeys } from '../query-keys.ts';
import type { Money, Quota } from '../types.ts';

/** Every organization of the platform, as operators see it. */
export const tenantsQuery = pagedQuery(operatorKeys.tenants, (page, signal) =>
  unwrap(client.GET('/api/v1/admin/tenants', { params: { query: { limit: 200, ...page } }, signal })),
);

export const tenantQuotasQuery = (organizationId: string) =>
  pagedQuery(operatorKeys.quotas(organizationId), (page, signal) =>
    unwrap(
      client.GET('/api/v1/admin/tenants/{organization_id}/quotas', {
        params: { ...at(organizationId), query: page },
        signal,
      }),
    ),
  );

export interface NewLimit {
  organizationId: string;
  quota: Quota;
  /** Null clears the limit; the policy applies again. */
  limit: number | null;
}

export function setTenantQuota({ organizationId, quota, limit }: NewLimit) {
  const { holder, measure, unit } = quota;
  return unwrap(
    client.PUT('/api/v1/admin/tenants/{organization_id}/quotas', {
      params: at(organizationId),
      body: { holder, measure, ...(unit ? { unit } : {}), ...(limit === null ? {} : { limit }) },
    }),
  );
}

export interface LedgerAdjustment {
  organizationId: string;
  kind: 'credit' | 'adjustment';
  amount: Money;
  reason: string;
}

export function adjustLedger({ organizationId, kind, amount, reason }: LedgerAdjustment) {
  return unwrap(
    client.POST('/api/v1/admin/tenants/{organization_id}/ledger-adjustments', {
      params: at(organizationId),
      body: { kind, amount, reason },
    }),
  );
}

export const entitlementsQuery = (organizationId: string) =>
  pagedQuery(operatorKeys.entitlements(organizationId), (page, signal) =>
    unwrap(
      client.GET('/api/v1/admin/tenants/{organization_id}/sku-entitlements', {
        params: { ...at(organizationId), query: page },
        signal,
      }),
    ),
  );

export function setEntitlement({
  organizationId,
  sku,
  entitled,
}: {
  organizationId: string;
  sku: string;
  entitled: boolean;
}) {
  return unwrap(
    client.PUT('/api/v1/admin/tenants/{organization_id}/sku-entitlements/{sku}', {
      params: { path: { organization_id: organizationId, sku } },
      body: { entitled },
    }),
  );
}

function at(organizationId: string) {
  return { path: { organization_id: organizationId } };
}
