import { unwrap } from '@gpuaas/sdk/problem';
import { client } from '../client.ts';
import { pagedQuery } from '../paged.ts';
import { projectKeys } from '../query-keys.ts';

export const secretsQuery = (projectId: string) =>
  pagedQuery(projectKeys.secrets(projectId), (page, signal) =>
    unwrap(
      client.GET('/api/v1/project-secrets', {
        params: { query: { project_id: projectId, ...page } },
        signal,
      }),
    ),
  );

export function setSecret({ projectId, name, value }: { projectId: string; name: string; value: string }) {
  return unwrap(
    client.PUT('/api/v1/project-secrets/{secret_name}', {
      params: { path: { secret_name: name } },
      body: { project_id: projectId, value },
    }),
  );
}

export function deleteSecret({ projectId, name }: { projectId: string; name: string }) {
  return unwrap(
    client.DELETE('/api/v1/project-secrets/{secret_name}', {
      params: { path: { secret_name: name }, query: { project_id: projectId } },
    }),
  );
}
