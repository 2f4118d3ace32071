import { queryOptions } from '@tanstack/react-query';
import { ProblemError, unwrap } from '@gpuaas/sdk/problem';
import { client } from '../client.ts';
import { pagedQuery } from '../paged.ts';
import { organizationKeys } from '../query-keys.ts';
import type { AutoTopUp, Money, TestCard } from '../types.ts';

export const paymentOptionsQuery = (organizationId: string) =>
  queryOptions({
    queryKey: [...organizationKeys.payments(organizationId), 'options'],
    queryFn: ({ signal }) =>
      unwrap(client.GET('/api/v1/billing/payment-options', { params: of(organizationId), signal })),
  });

export const paymentsQuery = (organizationId: string) =>
  pagedQuery([...organizationKeys.payments(organizationId), 'list'], (page, signal) =>
    unwrap(
      client.GET('/api/v1/billing/payments', {
        params: { query: { organization_id: organizationId, ...page } },
        signal,
      }),
    ),
  );

export const paymentMethodsQuery = (organizationId: string) =>
  pagedQuery([...organizationKeys.payments(organizationId), 'methods'], (page, signal) =>
    unwrap(
      client.GET('/api/v1/billing/payment-methods', {
        params: { query: { organization_id: organizationId, ...page } },
        signal,
      }),
    ),
  );

export interface TopUp {
  organization_id: string;
  amount: Money;
  payment_method_id?: string;
  keep_method?: boolean;
}

export function topUp(body: TopUp) {
  return unwrap(client.POST('/api/v1/billing/payments', { body }));
}

/** Only where payments are tests, as in the demo. */
export function payWithTestCard({ id, card }: { id: string; card: TestCard }) {
  return unwrap(
    client.POST('/api/v1/billing/payments/{payment_id}/test-card', {
      params: { path: { payment_id: id } },
      body: { card },
    }),
  );
}

/** Automatic top-up settings; null if never set. */
export const autoTopUpQuery = (organizationId: string) =>
  queryOptions({
    queryKey: [...organizationKeys.payments(organizationId), 'auto'],
    queryFn: async ({ signal }): Promise<AutoTopUp | null> => {
      try {
        return await unwrap(
          client.GET('/api/v1/billing/auto-top-up', { params: of(organizationId), signal }),
        );
      } catch (error) {
        if (error instanceof ProblemError && error.problem.status === 404) return null;
        throw error;
      }
    },
  });

export interface NewAutoTopUp {
  organization_id: string;
  enabled: boolean;
  payment_method_id: string;
  threshold: Money;
  amount: Money;
  monthly_cap: Money;
}

export function setAutoTopUp(body: NewAutoTopUp) {
  return unwrap(client.PUT('/api/v1/billing/auto-top-up', { body }));
}

function of(organizationId: string) {
  return { query: { organization_id: organizationId } };
}
