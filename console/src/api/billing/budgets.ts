import { unwrap } from '@gpuaas/sdk/problem';
import { client } from '../client.ts';
import { pagedQuery } from '../paged.ts';
import { organizationKeys } from '../query-keys.ts';
import type { Budget, Money } from '../types.ts';

/** Spend of budgets grows with usage, without an event. */
const REFETCH_MS = 30_000;

export const budgetsQuery = (organizationId: string) =>
  pagedQuery(
    organizationKeys.budgets(organizationId),
    (page, signal) =>
      unwrap(
        client.GET('/api/v1/billing/budgets', {
          params: { query: { organization_id: organizationId, ...page } },
          signal,
        }),
      ),
    REFETCH_MS,
  );

export interface NewBudget {
  organization_id: string;
  scope_type: Budget['scope_type'];
  scope_id: string;
  monthly: Money;
  thresholds: number[];
  at_cap: Budget['at_cap'];
}

export function setBudget(body: NewBudget) {
  return unwrap(client.PUT('/api/v1/billing/budgets', { body }));
}

export function deleteBudget(id: string) {
  return unwrap(
    client.DELETE('/api/v1/billing/budgets/{budget_id}', { params: { path: { budget_id: id } } }),
  );
}
