import { queryOptions } from '@tanstack/react-query';
import { unwrap } from '@gpuaas/sdk/problem';
import { client } from '../client.ts';
import { everyPage, pagedQuery } from '../paged.ts';
import { appKeys } from '../query-keys.ts';
import type { AppInstance, AppInstanceEvent, AppInstanceMember, AppStatus } from '../types.ts';

/** How far billing is behind the gateways' count. */
const USAGE_MS = 5_000;
const MEMBERS_MS = 10_000;

/** `live` have not ended, `ended` have; or those of one status. */
export type StatusFilter = AppStatus | 'live' | 'ended';

export interface InstanceFilter {
  status?: StatusFilter | undefined;
  allocationId?: string | undefined;
}

/** App instances of a project, newest first. */
export const instancesQuery = (projectId: string, { status, allocationId }: InstanceFilter = {}) =>
  pagedQuery([...appKeys.list(projectId), status ?? null, allocationId ?? null], (page, signal) => {
    const query = {
      project_id: projectId,
      ...statusQuery(status),
      ...(allocationId ? { allocation_id: allocationId } : {}),
      ...page,
    };
    return unwrap(client.GET('/api/v1/app-instances', { params: { query }, signal }));
  });

function statusQuery(status: StatusFilter | undefined): { live?: boolean; status?: AppStatus } {
  if (status === undefined) return {};
  return status === 'live' || status === 'ended' ? { live: status === 'live' } : { status };
}

/** The instance, those it is a retry of, and the retries of them, newest first. */
export const attemptsQuery = ({ id, project_id: projectId }: AppInstance) =>
  queryOptions({
    queryKey: [...appKeys.list(projectId), 'attempts', id],
    queryFn: ({ signal }) =>
      everyPage<AppInstance>((page) =>
        unwrap(
          client.GET('/api/v1/app-instances', {
            params: { query: { project_id: projectId, attempts_of: id, ...page } },
            signal,
          }),
        ),
      ),
  });

export const instanceQuery = (id: string) =>
  queryOptions({
    queryKey: appKeys.one(id),
    queryFn: ({ signal }) =>
      unwrap(client.GET('/api/v1/app-instances/{app_instance_id}', { params: at(id), signal })),
  });

/** Until the end they are read again and again: use of the machine changes without an event. */
export const membersQuery = ({ id, ended_at: endedAt }: Pick<AppInstance, 'id' | 'ended_at'>) =>
  queryOptions({
    queryKey: appKeys.members(id),
    queryFn: ({ signal }) =>
      everyPage<AppInstanceMember>((query) =>
        unwrap(
          client.GET('/api/v1/app-instances/{app_instance_id}/members', {
            params: { ...at(id), query },
            signal,
          }),
        ),
      ),
    refetchInterval: endedAt === null && MEMBERS_MS,
  });

export const eventsQuery = (id: string) =>
  queryOptions({
    queryKey: appKeys.events(id),
    queryFn: ({ signal }) =>
      everyPage<AppInstanceEvent>((query) =>
        unwrap(
          client.GET('/api/v1/app-instances/{app_instance_id}/events', {
            params: { ...at(id), query },
            signal,
          }),
        ),
      ),
  });

export const addressQuery = (id: string) =>
  queryOptions({
    queryKey: appKeys.address(id),
    queryFn: ({ signal }) =>
      unwrap(client.GET('/api/v1/app-instances/{app_instance_id}/address', { params: at(id), signal })),
  });

/** Requests that the gateways counted, and their cost. */
export const usageQuery = ({ id, ended_at: endedAt }: Pick<AppInstance, 'id' | 'ended_at'>) =>
  queryOptions({
    queryKey: appKeys.usage(id),
    queryFn: ({ signal }) =>
      unwrap(client.GET('/api/v1/app-instances/{app_instance_id}/usage', { params: at(id), signal })),
    refetchInterval: endedAt === null && USAGE_MS,
  });

/** Its share of the machine's cost, and its requests. */
export const costQuery = ({ id, ended_at: endedAt }: Pick<AppInstance, 'id' | 'ended_at'>) =>
  queryOptions({
    queryKey: appKeys.cost(id),
    queryFn: ({ signal }) =>
      unwrap(client.GET('/api/v1/app-instances/{app_instance_id}/cost', { params: at(id), signal })),
    refetchInterval: endedAt === null && USAGE_MS,
  });

export interface LogRequest {
  instanceId: string;
  memberId: string;
  offset: number;
  /** How long the answer may wait for more. */
  waitSeconds: number;
}

export function readLog({ instanceId, memberId, offset, waitSeconds }: LogRequest, signal: AbortSignal) {
  const query = { member_id: memberId, offset, wait_seconds: waitSeconds };
  return unwrap(
    client.GET('/api/v1/app-instances/{app_instance_id}/logs', {
      params: { ...at(instanceId), query },
      signal,
    }),
  );
}

export function stopInstance(id: string) {
  return unwrap(client.POST('/api/v1/app-instances/{app_instance_id}/stop', { params: at(id) }));
}

function at(id: string) {
  return { path: { app_instance_id: id } };
}
