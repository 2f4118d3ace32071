import { queryOptions } from '@tanstack/react-query';
import { unwrap } from '@gpuaas/sdk/problem';
import { client } from '../client.ts';
import { allocationKeys } from '../query-keys.ts';

const SOON_MS = 2_000;

/** Forwardings to a machine; polled while one is pending. */
export const ingressQuery = (allocationId: string) =>
  queryOptions({
    queryKey: allocationKeys.ingress(allocationId),
    queryFn: async ({ signal }) => {
      const params = { path: { allocation_id: allocationId }, query: { limit: 200 } };
      return (await unwrap(client.GET('/api/v1/allocations/{allocation_id}/ingress', { params, signal })))
        .items;
    },
    refetchInterval: ({ state }) => (state.data?.some((one) => one.state !== 'attached') ? SOON_MS : false),
  });

export interface NewIngress {
  allocationId: string;
  machinePort: number;
  publicPort: number | undefined;
  protocol: 'tcp' | 'udp';
}

export function attachIngress({ allocationId, machinePort, publicPort, protocol }: NewIngress) {
  return unwrap(
    client.POST('/api/v1/allocations/{allocation_id}/ingress', {
      params: { path: { allocation_id: allocationId } },
      body: {
        machine_port: machinePort,
        protocol,
        ...(publicPort === undefined ? {} : { public_port: publicPort }),
      },
    }),
  );
}

export function detachIngress({ allocationId, id }: { allocationId: string; id: string }) {
  return unwrap(
    client.DELETE('/api/v1/allocations/{allocation_id}/ingress/{ingress_id}', {
      params: { path: { allocation_id: allocationId, ingress_id: id } },
    }),
  );
}
