import { queryOptions } from '@tanstack/react-query';
import { unwrap } from '@gpuaas/sdk/problem';
import { client } from '../client.ts';
import { fleetKeys } from '../query-keys.ts';

/** How many records of the past a host's page shows. */
const RECENT = 5;

export const readinessQuery = (id: string) =>
  queryOptions({
    queryKey: fleetKeys.readiness(id),
    queryFn: ({ signal }) =>
      unwrap(client.GET('/api/v1/admin/nodes/{node_id}/readiness', { params: at(id), signal })),
  });

export const driftQuery = (id: string) =>
  queryOptions({
    queryKey: fleetKeys.drift(id),
    queryFn: ({ signal }) =>
      unwrap(client.GET('/api/v1/admin/nodes/{node_id}/slice-topology/drift', { params: at(id), signal })),
  });

export const disksQuery = (id: string) =>
  queryOptions({
    queryKey: fleetKeys.disks(id),
    queryFn: async ({ signal }) =>
      (await unwrap(client.GET('/api/v1/admin/nodes/{node_id}/disks', { params: at(id), signal }))).items,
  });

export const burnInsQuery = (id: string) =>
  queryOptions({
    queryKey: fleetKeys.burnIns(id),
    queryFn: async ({ signal }) => {
      const params = { ...at(id), query: { limit: RECENT } };
      return (await unwrap(client.GET('/api/v1/admin/nodes/{node_id}/burn-ins', { params, signal }))).items;
    },
  });

export const maintenanceQuery = (id: string) =>
  queryOptions({
    queryKey: fleetKeys.maintenance(id),
    queryFn: async ({ signal }) => {
      const params = { ...at(id), query: { limit: RECENT } };
      const path = '/api/v1/admin/nodes/{node_id}/maintenance-windows';
      return (await unwrap(client.GET(path, { params, signal }))).items;
    },
  });

export function startReadinessCheck(id: string) {
  return unwrap(client.POST('/api/v1/admin/nodes/{node_id}/readiness', { params: at(id) }));
}

function at(id: string) {
  return { path: { node_id: id } };
}
