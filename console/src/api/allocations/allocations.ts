import { queryOptions } from '@tanstack/react-query';
import type { paths } from '@gpuaas/sdk/contract';
import { unwrap } from '@gpuaas/sdk/problem';
import { client } from '../client.ts';
import { everyPage, pagedQuery } from '../paged.ts';
import { allocationKeys } from '../query-keys.ts';
import type { CreateAllocation, HostCleanup, TimelineSection, WipeCertificate } from '../types.ts';

export type StateFilter = NonNullable<
  NonNullable<paths['/api/v1/allocations']['get']['parameters']['query']>['state']
>;

/** Allocations of a project: all of them, or those in a state or with a tag. */
export const allocationsQuery = (projectId: string, state?: StateFilter, tag?: string) =>
  pagedQuery([...allocationKeys.list(projectId), state ?? null, tag ?? null], (page, signal) =>
    unwrap(
      client.GET('/api/v1/allocations', {
        params: {
          query: { project_id: projectId, ...(state ? { state } : {}), ...(tag ? { tag } : {}), ...page },
        },
        signal,
      }),
    ),
  );

export const allocationQuery = (id: string) =>
  queryOptions({
    queryKey: allocationKeys.one(id),
    queryFn: ({ signal }) =>
      unwrap(client.GET('/api/v1/allocations/{allocation_id}', { params: at(id), signal })),
  });

/** The steps alone: they do not depend on how many of the events behind them are listed. */
export const timelineQuery = (id: string) =>
  queryOptions({
    queryKey: allocationKeys.timeline(id),
    queryFn: async ({ signal }): Promise<TimelineSection[]> => {
      const params = { ...at(id), query: { limit: 1 } };
      const answer = client.GET('/api/v1/allocations/{allocation_id}/timeline', { params, signal });
      return (await unwrap(answer)).sections;
    },
  });

export const connectionQuery = (id: string) =>
  queryOptions({
    queryKey: allocationKeys.connection(id),
    queryFn: ({ signal }) =>
      unwrap(client.GET('/api/v1/allocations/{allocation_id}/connection', { params: at(id), signal })),
  });

export const wipeCertificatesQuery = (id: string) =>
  queryOptions({
    queryKey: allocationKeys.wipes(id),
    queryFn: ({ signal }) =>
      everyPage<WipeCertificate>((query) =>
        unwrap(
          client.GET('/api/v1/allocations/{allocation_id}/wipe-certificates', {
            params: { ...at(id), query },
            signal,
          }),
        ),
      ),
  });

export const hostCleanupsQuery = (id: string) =>
  queryOptions({
    queryKey: allocationKeys.hostCleanups(id),
    queryFn: ({ signal }) =>
      everyPage<HostCleanup>((query) =>
        unwrap(
          client.GET('/api/v1/allocations/{allocation_id}/host-cleanups', {
            params: { ...at(id), query },
            signal,
          }),
        ),
      ),
  });

export interface LaunchRequest {
  body: CreateAllocation;
  /** Created once per click, so that a retry after a lost response cannot lease twice. */
  idempotencyKey: string;
}

export function launchAllocation({ body, idempotencyKey }: LaunchRequest) {
  const params = { header: { 'X-Idempotency-Key': idempotencyKey } };
  return unwrap(client.POST('/api/v1/allocations', { body, params }));
}

export function releaseAllocation(id: string) {
  return unwrap(client.POST('/api/v1/allocations/{allocation_id}/release', { params: at(id) }));
}

/** Retries a failed release. */
export function retryRelease(id: string) {
  return unwrap(client.POST('/api/v1/allocations/{allocation_id}/retry-release', { params: at(id) }));
}

export function extendAllocation({ id, seconds }: { id: string; seconds: number }) {
  return unwrap(
    client.POST('/api/v1/allocations/{allocation_id}/extend', {
      params: at(id),
      body: { additional_seconds: seconds },
    }),
  );
}

export function setAllocationTags({ id, tags }: { id: string; tags: string[] }) {
  return unwrap(client.PUT('/api/v1/allocations/{allocation_id}/tags', { params: at(id), body: { tags } }));
}

/** The signed statement about one wipe, as a file. */
export function signedWipeCertificate({ allocationId, id }: { allocationId: string; id: string }) {
  return unwrap(
    client.GET('/api/v1/allocations/{allocation_id}/wipe-certificates/{certificate_id}', {
      params: { path: { allocation_id: allocationId, certificate_id: id } },
    }),
  );
}

export function mintTerminalToken(id: string) {
  return unwrap(client.POST('/api/v1/allocations/{allocation_id}/terminal-token', { params: at(id) }));
}

function at(id: string) {
  return { path: { allocation_id: id } };
}
