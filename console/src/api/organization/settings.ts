import { unwrap } from '@gpuaas/sdk/problem';
import { client } from '../client.ts';
import { pagedQuery } from '../paged.ts';
import { organizationKeys } from '../query-keys.ts';

export function renameOrganization({ id, name }: { id: string; name: string }) {
  return unwrap(
    client.PATCH('/api/v1/organizations/{organization_id}', {
      params: { path: { organization_id: id } },
      body: { name },
    }),
  );
}

export function leaveOrganization(id: string) {
  return unwrap(
    client.POST('/api/v1/organizations/{organization_id}/leave', {
      params: { path: { organization_id: id } },
    }),
  );
}

export function deleteOrganization(id: string) {
  return unwrap(
    client.DELETE('/api/v1/organizations/{organization_id}', { params: { path: { organization_id: id } } }),
  );
}

/** Projects of an organization, or of one of its teams. */
export const projectsQuery = (organizationId: string, teamId?: string) =>
  pagedQuery(organizationKeys.projects(organizationId, teamId), (page, signal) =>
    unwrap(
      client.GET('/api/v1/projects', {
        params: {
          query: { organization_id: organizationId, ...(teamId ? { team_id: teamId } : {}), ...page },
        },
        signal,
      }),
    ),
  );

export function createProject(body: { organization_id: string; name: string }) {
  return unwrap(client.POST('/api/v1/projects', { body }));
}

export function moveProject({ id, teamId }: { id: string; teamId: string }) {
  return unwrap(
    client.PATCH('/api/v1/projects/{project_id}', {
      params: { path: { project_id: id } },
      body: { team_id: teamId },
    }),
  );
}

export function deleteProject(id: string) {
  return unwrap(client.DELETE('/api/v1/projects/{project_id}', { params: { path: { project_id: id } } }));
}
