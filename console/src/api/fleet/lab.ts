import { queryOptions } from '@tanstack/react-query';
import { ProblemError, unwrap } from '@gpuaas/sdk/problem';
import { client } from '../client.ts';
import { pagedQuery } from '../paged.ts';
import { fleetKeys, operatorKeys } from '../query-keys.ts';
import type { LabFault } from '../types.ts';

const path = '/api/v1/admin/lab/hosts/{lab_hostname}/faults';

/** One-time faults end without an event. */
const REFETCH_MS = 5_000;

/** The faults of a simulated host; null without a lab or for a real host. */
export const labFaultsQuery = (hostname: string) =>
  queryOptions({
    queryKey: fleetKeys.labFaults(hostname),
    queryFn: async ({ signal }): Promise<LabFault[] | null> => {
      try {
        const params = { path: { lab_hostname: hostname } };
        return (await unwrap(client.GET(path, { params, signal }))).faults;
      } catch (error) {
        if (error instanceof ProblemError && error.problem.status === 404) return null;
        throw error;
      }
    },
    refetchInterval: ({ state }) => (state.data ? REFETCH_MS : false),
  });

export function setLabFaults({ hostname, faults }: { hostname: string; faults: LabFault[] }) {
  const params = { path: { lab_hostname: hostname } };
  return unwrap(client.PUT(path, { params, body: { faults } }));
}

export const labHostsQuery = pagedQuery(
  operatorKeys.labHosts,
  (page, signal) => unwrap(client.GET('/api/v1/admin/lab/hosts', { params: { query: page }, signal })),
  REFETCH_MS,
);
