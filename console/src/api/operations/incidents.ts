import { queryOptions } from '@tanstack/react-query';
import { unwrap } from '@gpuaas/sdk/problem';
import { client } from '../client.ts';
import { pagedQuery } from '../paged.ts';
import { operatorKeys, projectKeys } from '../query-keys.ts';

/** The platform opens and closes incidents without an event. */
const REFETCH_MS = 10_000;

/** Incidents that affect a project, as far as its members may see them. */
export const projectIncidentsQuery = (projectId: string) =>
  queryOptions({
    queryKey: projectKeys.incidents(projectId),
    queryFn: ({ signal }) =>
      unwrap(client.GET('/api/v1/incidents', { params: { query: { project_id: projectId } }, signal })),
    refetchInterval: REFETCH_MS,
  });

export const incidentsQuery = (state: 'open' | 'resolved') =>
  pagedQuery(
    [...operatorKeys.incidents, state],
    (page, signal) =>
      unwrap(client.GET('/api/v1/admin/incidents', { params: { query: { state, ...page } }, signal })),
    REFETCH_MS,
  );

export const incidentQuery = (id: string) =>
  queryOptions({
    queryKey: [...operatorKeys.incidents, 'one', id],
    queryFn: ({ signal }) =>
      unwrap(client.GET('/api/v1/admin/incidents/{incident_id}', { params: at(id), signal })),
    refetchInterval: REFETCH_MS,
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
