import { unwrap } from '@gpuaas/sdk/problem';
import { client } from '../client.ts';
import { pagedQuery } from '../paged.ts';
import { operatorKeys } from '../query-keys.ts';

/** A retry is settled by a worker, and no event tells of it. */
const LOOK_AGAIN_MS = 10_000;

export const parkedEventsQuery = pagedQuery(
  operatorKeys.parkedEvents,
  (page, signal) =>
    unwrap(
      client.GET('/api/v1/admin/parked-events', { params: { query: { state: 'open', ...page } }, signal }),
    ),
  LOOK_AGAIN_MS,
);

export function retryParkedEvent(id: string) {
  return unwrap(client.POST('/api/v1/admin/parked-events/{parked_event_id}/retry', { params: at(id) }));
}

export function skipParkedEvent({ id, reason }: { id: string; reason: string }) {
  return unwrap(
    client.POST('/api/v1/admin/parked-events/{parked_event_id}/skip', { params: at(id), body: { reason } }),
  );
}

function at(id: string) {
  return { path: { parked_event_id: id } };
}
