import { unwrap } from '@gpuaas/sdk/problem';
import { client } from './client.ts';
import { pagedQuery } from './paged.ts';
import { ownKeys } from './query-keys.ts';

export const apiKeysQuery = pagedQuery(ownKeys.apiKeys, (page, signal) =>
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
  pagedQuery([...ownKeys.sshKeys, projectId], (page, signal) =>
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

export const sessionsQuery = pagedQuery(ownKeys.sessions, (page, signal) =>
  unwrap(client.GET('/api/v1/sessions', { params: { query: page }, signal })),
);

export function endSession(id: string) {
  return unwrap(client.DELETE('/api/v1/sessions/{session_id}', { params: { path: { session_id: id } } }));
}

export function endOtherSessions() {
  return unwrap(client.POST('/api/v1/sessions/revoke-others'));
}
