import { unwrap } from '@gpuaas/sdk/problem';
import { client } from '../client.ts';
import { pagedQuery } from '../paged.ts';
import { userKeys } from '../query-keys.ts';

export const apiKeysQuery = pagedQuery(userKeys.apiKeys, (page, signal) =>
  unwrap(client.GET('/api/v1/api-keys', { params: { query: page }, signal })),
);

export interface NewApiKey {
  name: string;
  organization_id?: string;
  scopes?: string[];
  expires_at?: string;
}

export function createApiKey(body: NewApiKey) {
  return unwrap(client.POST('/api/v1/api-keys', { body }));
}

export function revokeApiKey(id: string) {
  return unwrap(client.DELETE('/api/v1/api-keys/{api_key_id}', { params: { path: { api_key_id: id } } }));
}

/** The person's own keys, or those of a project. */
export const sshKeysQuery = (projectId: string | null) =>
  pagedQuery([...userKeys.sshKeys, projectId], (page, signal) =>
    unwrap(
      client.GET('/api/v1/ssh-keys', {
        params: { query: { ...(projectId ? { project_id: projectId } : {}), ...page } },
        signal,
      }),
    ),
  );

export function addSshKey(body: { name: string; public_key: string; project_id?: string }) {
  return unwrap(client.POST('/api/v1/ssh-keys', { body }));
}

export function deleteSshKey(id: string) {
  return unwrap(client.DELETE('/api/v1/ssh-keys/{ssh_key_id}', { params: { path: { ssh_key_id: id } } }));
}

export const signInsQuery = pagedQuery(userKeys.signIns, (page, signal) =>
  unwrap(client.GET('/api/v1/sign-ins', { params: { query: page }, signal })),
);

export function endSignIn(id: string) {
  return unwrap(client.DELETE('/api/v1/sign-ins/{sign_in_id}', { params: { path: { sign_in_id: id } } }));
}

export function endOtherSignIns() {
  return unwrap(client.POST('/api/v1/sign-ins/revoke-others'));
}
