import type { components } from '@gpuaas/sdk/contract';
import type { GpuaasClient } from '@gpuaas/sdk/client';
import { readMe } from '@gpuaas/sdk/me';
import { paginate } from '@gpuaas/sdk/paginate';
import { unwrap } from '@gpuaas/sdk/problem';

export type Allocation = components['schemas']['Allocation'];

/** Allocations that a name may refer to: active ones, all that have not ended, or ended ones too. */
type Among = 'active' | 'live' | 'any';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** The id of an allocation that people call by its id or its name. */
export async function findAllocation(client: GpuaasClient, called: string, among: Among): Promise<string> {
  if (UUID.test(called)) return called;
  const named = await findNamed(client, called, among === 'any' ? 'live' : among);
  if (named.length === 0 && among === 'any') {
    // Names are free again when an allocation has ended; the newest is meant.
    const [newest] = (await findNamed(client, called, undefined)).toSorted((one, other) =>
      other.created_at.localeCompare(one.created_at),
    );
    if (newest) return newest.id;
  }
  const [only, ...others] = named;
  if (!only)
    throw new Error(`No ${among === 'any' ? '' : `${among} `}allocation named ${called}; see gpuaas list.`);
  if (others.length > 0)
    throw new Error(
      `Several allocations are named ${called}; use an id: ${named.map(({ id }) => id).join(', ')}`,
    );
  return only.id;
}

async function findNamed(
  client: GpuaasClient,
  name: string,
  state: 'active' | 'live' | undefined,
): Promise<Allocation[]> {
  const named: Allocation[] = [];
  for await (const allocation of listOwnAllocations(client, state))
    if (allocation.name === name) named.push(allocation);
  return named;
}

/** Of all projects the caller is in; in every state if none is given. */
export async function* listOwnAllocations(
  client: GpuaasClient,
  state: 'active' | 'live' | undefined,
): AsyncGenerator<Allocation> {
  const { organizations } = await readMe(client);
  for (const { id: project_id } of organizations.flatMap(({ projects }) => projects)) {
    yield* paginate((page) =>
      unwrap(
        client.GET('/api/v1/allocations', {
          params: { query: { project_id, ...(state && { state }), ...page } },
        }),
      ),
    );
  }
}
