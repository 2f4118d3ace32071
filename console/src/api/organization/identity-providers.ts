import { unwrap } from '@gpuaas/sdk/problem';
import { client } from '../client.ts';
import { pagedQuery } from '../paged.ts';
import { organizationKeys } from '../query-keys.ts';

export const providersQuery = (organizationId: string) =>
  pagedQuery(organizationKeys.providers(organizationId), (page, signal) =>
    unwrap(
      client.GET('/api/v1/identity-providers', {
        params: { query: { organization_id: organizationId, ...page } },
        signal,
      }),
    ),
  );

export interface NewProvider {
  organization_id: string;
  name: string;
  issuer: string;
  client_id: string;
  client_secret: string;
}

export function addProvider(body: NewProvider) {
  return unwrap(client.POST('/api/v1/identity-providers', { body }));
}

export function enableProvider({ id, enabled }: { id: string; enabled: boolean }) {
  return unwrap(
    client.PATCH('/api/v1/identity-providers/{identity_provider_id}', { params: at(id), body: { enabled } }),
  );
}

export function deleteProvider(id: string) {
  return unwrap(client.DELETE('/api/v1/identity-providers/{identity_provider_id}', { params: at(id) }));
}

export const providerDomainsQuery = (id: string) =>
  pagedQuery(organizationKeys.providerDomains(id), (page, signal) =>
    unwrap(
      client.GET('/api/v1/identity-providers/{identity_provider_id}/domains', {
        params: { ...at(id), query: page },
        signal,
      }),
    ),
  );

export function addDomain({ id, domain }: { id: string; domain: string }) {
  return unwrap(
    client.POST('/api/v1/identity-providers/{identity_provider_id}/domains', {
      params: at(id),
      body: { domain },
    }),
  );
}

export function verifyDomain({ id, domainId }: { id: string; domainId: string }) {
  return unwrap(
    client.POST('/api/v1/identity-providers/{identity_provider_id}/domains/{domain_id}/verify', {
      params: { path: { identity_provider_id: id, domain_id: domainId } },
    }),
  );
}

function at(id: string) {
  return { path: { identity_provider_id: id } };
}
