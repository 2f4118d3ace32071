import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { ProblemError, unwrap } from '@gpuaas/sdk/problem';
import { client } from '../client.ts';
import { fleetKeys } from '../query-keys.ts';
import type { TopologyDiscovery, WipePolicy } from '../types.ts';

const firstPage = null as string | null;

export const nodesQuery = infiniteQueryOptions({
  queryKey: fleetKeys.nodes,
  queryFn: ({ pageParam, signal }) =>
    unwrap(
      client.GET('/api/v1/admin/nodes', {
        params: { query: { limit: 100, ...(pageParam ? { page: pageParam } : {}) } },
        signal,
      }),
    ),
  initialPageParam: firstPage,
  getNextPageParam: (last) => last.next_page,
  select: (data) => data.pages.flatMap((page) => page.items),
});

export const nodeQuery = (id: string) =>
  queryOptions({
    queryKey: fleetKeys.node(id),
    queryFn: ({ signal }) => unwrap(client.GET('/api/v1/admin/nodes/{node_id}', { params: at(id), signal })),
  });

export const slotsQuery = (id: string) =>
  queryOptions({
    queryKey: fleetKeys.slots(id),
    queryFn: async ({ signal }) => {
      const path = '/api/v1/admin/nodes/{node_id}/resource-slots';
      return (await unwrap(client.GET(path, { params: at(id), signal }))).items;
    },
  });

/** The latest discovery; null when there was none. */
export const discoveryQuery = (id: string) =>
  queryOptions({
    queryKey: fleetKeys.discovery(id),
    queryFn: async ({ signal }): Promise<TopologyDiscovery | null> => {
      const path = '/api/v1/admin/nodes/{node_id}/slice-topology/discovery';
      try {
        return await unwrap(client.GET(path, { params: at(id), signal }));
      } catch (error) {
        if (error instanceof ProblemError && error.problem.status === 404) return null;
        throw error;
      }
    },
  });

export const nodeTasksQuery = (id: string) =>
  queryOptions({
    queryKey: fleetKeys.tasks(id),
    queryFn: async ({ signal }) => {
      const query = { node_id: id, limit: 10 };
      return (await unwrap(client.GET('/api/v1/admin/tasks', { params: { query }, signal }))).items;
    },
  });

export function startDiscovery(id: string) {
  return unwrap(client.POST('/api/v1/admin/nodes/{node_id}/slice-topology/discovery', { params: at(id) }));
}

export interface SlotApproval {
  nodeId: string;
  discoveryTaskId: string;
  slotIndexes: number[];
  wipePolicy: WipePolicy;
}

export function approveSlots(approval: SlotApproval) {
  return unwrap(
    client.POST('/api/v1/admin/nodes/{node_id}/resource-slots/approve', {
      params: at(approval.nodeId),
      body: {
        discovery_task_id: approval.discoveryTaskId,
        slot_indexes: approval.slotIndexes,
        destructive_wipe_policy: approval.wipePolicy,
      },
    }),
  );
}

export function offerWholeNode({ nodeId, discoveryTaskId }: { nodeId: string; discoveryTaskId: string }) {
  return unwrap(
    client.POST('/api/v1/admin/nodes/{node_id}/whole-node-offer', {
      params: at(nodeId),
      body: { discovery_task_id: discoveryTaskId },
    }),
  );
}

function at(id: string) {
  return { path: { node_id: id } };
}
