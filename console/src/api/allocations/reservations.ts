import { unwrap } from '@gpuaas/sdk/problem';
import { client } from '../client.ts';
import { pagedQuery } from '../paged.ts';
import { projectKeys } from '../query-keys.ts';

export const reservationsQuery = (projectId: string) =>
  pagedQuery(projectKeys.reservations(projectId), (page, signal) =>
    unwrap(
      client.GET('/api/v1/reservations', { params: { query: { project_id: projectId, ...page } }, signal }),
    ),
  );

export interface NewReservation {
  project_id: string;
  sku: string;
  region: string;
  node_count: number;
  starts_at: string;
  ends_at: string;
  reason: string;
}

export function createReservation(body: NewReservation) {
  return unwrap(client.POST('/api/v1/reservations', { body }));
}

export function cancelReservation(id: string) {
  return unwrap(
    client.POST('/api/v1/reservations/{reservation_id}/cancel', {
      params: { path: { reservation_id: id } },
    }),
  );
}
