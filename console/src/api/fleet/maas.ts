import { unwrap } from '@gpuaas/sdk/problem';
import { client } from '../client.ts';
import { pagedQuery } from '../paged.ts';
import { operatorKeys } from '../query-keys.ts';
import type { NodeOnboarding } from '../types.ts';

/** MAAS sends no events. */
const REFETCH_MS = 30_000;

export const maasMachinesQuery = pagedQuery(
  operatorKeys.maasMachines,
  (page, signal) => unwrap(client.GET('/api/v1/admin/maas/machines', { params: { query: page }, signal })),
  REFETCH_MS,
);

export const onboardingsQuery = pagedQuery(operatorKeys.onboardings, (page, signal) =>
  unwrap(client.GET('/api/v1/admin/node-onboardings', { params: { query: page }, signal })),
);

export interface NewOnboarding {
  systemId: string;
  profile: NodeOnboarding['profile'];
  region: string;
  rack?: string;
}

export function importMachine({ systemId, ...body }: NewOnboarding) {
  return unwrap(
    client.POST('/api/v1/admin/maas/machines/{system_id}/import', {
      params: { path: { system_id: systemId } },
      body,
    }),
  );
}

export function cancelOnboarding(id: string) {
  return unwrap(
    client.POST('/api/v1/admin/node-onboardings/{onboarding_id}/cancel', {
      params: { path: { onboarding_id: id } },
    }),
  );
}
