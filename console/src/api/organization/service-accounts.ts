import { unwrap } from '@gpuaas/sdk/problem';
import { client } from '../client.ts';
import { pagedQuery } from '../paged.ts';
import { projectKeys } from '../query-keys.ts';

export const serviceAccountsQuery = (projectId: string) =>
  pagedQuery(projectKeys.serviceAccounts(projectId), (page, signal) =>
    unwrap(
      client.GET('/api/v1/service-accounts', {
        params: { query: { project_id: projectId, ...page } },
        signal,
      }),
    ),
  );

export function createServiceAccount(body: { project_id: string; name: string; description?: string }) {
  return unwrap(client.POST('/api/v1/service-accounts', { body }));
}

export function rotateServiceAccountToken(id: string) {
  return unwrap(
    client.POST('/api/v1/service-accounts/{service_account_id}/rotate-token', { params: at(id) }),
  );
}

export function disableServiceAccount(id: string) {
  return unwrap(client.POST('/api/v1/service-accounts/{service_account_id}/disable', { params: at(id) }));
}

export function enableServiceAccount(id: string) {
  return unwrap(client.POST('/api/v1/service-accounts/{service_account_id}/enable', { params: at(id) }));
}

export function deleteServiceAccount(id: string) {
  return unwrap(client.DELETE('/api/v1/service-accounts/{service_account_id}', { params: at(id) }));
}

function at(id: string) {
  return { path: { service_account_id: id } };
}
