import type { components } from '@gpuaas/sdk/contract';
import type { GpuaasClient } from '@gpuaas/sdk/client';
import { paginate } from '@gpuaas/sdk/paginate';
import { unwrap } from '@gpuaas/sdk/problem';

export type Allocation = components['schemas']['Allocation'];

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** The id of an allocation that people call by its id or its name. */
export async function findMachine(client: GpuaasClient, called: string): Promise<string> {
  if (UUID.test(called)) return called;
  const named: Allocation[] = [];
  for await (const allocation of activeAllocations(client))
    if (allocation.name === called) named.push(allocation);
  const [only, ...others] = named;
  if (!only)
    throw new Error(`You have no active allocation called ${called}; gpuaas list shows what there is.`);
  if (others.length > 0)
    throw new Error(
      `Several are called ${called}; use one of the ids: ${named.map(({ id }) => id).join(', ')}`,
    );
  return only.id;
}

/** Of all projects the caller is in. */
export async function* activeAllocations(client: GpuaasClient): AsyncGenerator<Allocation> {
  const { organizations } = await unwrap(client.GET('/api/v1/me'));
  for (const { id: project_id } of organizations.flatMap(({ projects }) => projects)) {
    yield* paginate((page) =>
      unwrap(
        client.GET('/api/v1/allocations', { params: { query: { project_id, state: 'active', ...page } } }),
      ),
    );
  }
}
