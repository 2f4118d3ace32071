import { queryOptions } from '@tanstack/react-query';
import { unwrap } from '@gpuaas/sdk/problem';
import { client } from '../client.ts';
import { operatorKeys } from '../query-keys.ts';
import type { Policy, PolicyValue } from '../types.ts';

/** All keys, for searching; there are a few hundred at most. */
export const policiesQuery = (organizationId: string | undefined) =>
  queryOptions({
    queryKey: [...operatorKeys.policies, 'all', organizationId ?? null],
    queryFn: async ({ signal }) => {
      const policies: Policy[] = [];
      let page: string | null = null;
      do {
        const answer: { items: Policy[]; next_page: string | null } = await unwrap(
          client.GET('/api/v1/admin/policies', {
            params: { query: { ...scope(organizationId), limit: 200, ...(page ? { page } : {}) } },
            signal,
          }),
        );
        policies.push(...answer.items);
        page = answer.next_page;
      } while (page);
      return policies;
    },
  });

export const policyQuery = (name: string, organizationId: string | undefined) =>
  queryOptions({
    queryKey: [...operatorKeys.policies, 'one', name, organizationId ?? null],
    queryFn: ({ signal }) =>
      unwrap(
        client.GET('/api/v1/admin/policies/{policy_name}', { params: at(name, organizationId), signal }),
      ),
  });

export interface PolicySetting {
  name: string;
  organizationId: string | undefined;
  value: PolicyValue;
  reason: string;
}

export function setPolicy({ name, organizationId, value, reason }: PolicySetting) {
  return unwrap(
    client.PUT('/api/v1/admin/policies/{policy_name}', {
      params: at(name, organizationId),
      body: { value, ...(reason ? { reason } : {}) },
    }),
  );
}

export function unsetPolicy({ name, organizationId }: { name: string; organizationId: string | undefined }) {
  return unwrap(client.DELETE('/api/v1/admin/policies/{policy_name}', { params: at(name, organizationId) }));
}

function at(name: string, organizationId: string | undefined) {
  return { path: { policy_name: name }, query: scope(organizationId) };
}

function scope(organizationId: string | undefined) {
  return organizationId ? { organization_id: organizationId } : {};
}
