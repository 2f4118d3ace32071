import { queryOptions } from '@tanstack/react-query';
import { unwrap } from '@gpuaas/sdk/problem';
import { client } from '../client.ts';
import { fleetKeys } from '../query-keys.ts';

/** How many records of the past a host's page shows. */
const RECENT = 5;

export function drainNode({ id, reason }: { id: string; reason: string }) {
  return unwrap(client.POST('/api/v1/admin/nodes/{node_id}/drain', { params: at(id), body: { reason } }));
}

export function resumeNode(id: string) {
  return unwrap(client.POST('/api/v1/admin/nodes/{node_id}/resume', { params: at(id) }));
}

export function convertNode({
  id,
  mode,
  reason,
}: {
  id: string;
  mode: 'slice' | 'baremetal';
  reason: string;
}) {
  return unwrap(
    client.POST('/api/v1/admin/nodes/{node_id}/convert', { params: at(id), body: { mode, reason } }),
  );
}

export const conversionsQuery = (id: string) =>
  queryOptions({
    queryKey: fleetKeys.conversions(id),
    queryFn: async ({ signal }) => {
      const params = { ...at(id), query: { limit: RECENT } };
      return (await unwrap(client.GET('/api/v1/admin/nodes/{node_id}/conversions', { params, signal })))
        .items;
    },
  });

export interface NewMaintenanceWindow {
  id: string;
  startsAt: string;
  endsAt: string;
  reason: string;
}

export function scheduleMaintenance({ id, startsAt, endsAt, reason }: NewMaintenanceWindow) {
  return unwrap(
    client.POST('/api/v1/admin/nodes/{node_id}/maintenance-windows', {
      params: at(id),
      body: { starts_at: startsAt, ends_at: endsAt, reason },
    }),
  );
}

export function cancelMaintenance({ id, windowId }: { id: string; windowId: string }) {
  return unwrap(
    client.POST('/api/v1/admin/nodes/{node_id}/maintenance-windows/{window_id}/cancel', {
      params: { path: { node_id: id, window_id: windowId } },
    }),
  );
}

export interface NewBurnIn {
  id: string;
  result: 'passed' | 'failed';
  evidence: string;
}

export function recordBurnIn({ id, result, evidence }: NewBurnIn) {
  return unwrap(
    client.POST('/api/v1/admin/nodes/{node_id}/burn-ins', { params: at(id), body: { result, evidence } }),
  );
}

function at(id: string) {
  return { path: { node_id: id } };
}
