import { queryOptions } from '@tanstack/react-query';
import { unwrap } from '@gpuaas/sdk/problem';
import { client } from './client.ts';
import { pagedQuery } from './paged.ts';
import { operatorKeys, projectKeys } from './query-keys.ts';

/** The platform opens and closes incidents on its own, and no event tells of it. */
const LOOK_AGAIN_MS = 10_000;

/** What of the platform's troubles touches a project, as its members may know it. */
export const projectIncidentsQuery = (projectId: string) =>
  queryOptions({
    queryKey: projectKeys.incidents(projectId),
    queryFn: ({ signal }) =>
      unwrap(client.GET('/api/v1/incidents', { params: { query: { project_id: projectId } }, signal })),
    refetchInterval: LOOK_AGAIN_MS,
  });

export const incidentsQuery = (state: 'open' | 'resolved') =>
  pagedQuery(
    [...operatorKeys.incidents, state],
    (page, signal) =>
      unwrap(client.GET('/api/v1/admin/incidents', { params: { query: { state, ...page } }, signal })),
    LOOK_AGAIN_MS,
  );

export const incidentQuery = (id: string) =>
  queryOptions({
    queryKey: [...operatorKeys.incidents, 'one', id],
    queryFn: ({ signal }) =>
      unwrap(client.GET('/api/v1/admin/incidents/{incident_id}', { params: at(id), signal })),
    refetchInterval: LOOK_AGAIN_MS,
  });

export function acknowledgeIncident(id: string) {
  return unwrap(client.POST('/api/v1/admin/incidents/{incident_id}/acknowledge', { params: at(id) }));
}

export function resolveIncident({ id, resolution }: { id: string; resolution: string }) {
  return unwrap(
    client.POST('/api/v1/admin/incidents/{incident_id}/resolve', { params: at(id), body: { resolution } }),
  );
}

function at(id: string) {
  return { path: { incident_id: id } };
}
