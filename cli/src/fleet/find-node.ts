import type { components } from '@gpuaas/sdk/contract';
import { paginate } from '@gpuaas/sdk/paginate';
import { unwrap } from '@gpuaas/sdk/problem';
import type { Session } from '../session.ts';

type Node = components['schemas']['Node'];

/** Finds a host by hostname or by id. */
export async function findNode({ client }: Pick<Session, 'client'>, wanted: string): Promise<Node> {
  for await (const node of listAllNodes({ client }))
    if (node.hostname === wanted || node.id === wanted) return node;
  throw new Error(`No host named ${wanted}; see gpuaas admin nodes.`);
}

export function listAllNodes({ client }: Pick<Session, 'client'>): AsyncGenerator<Node> {
  return paginate((page) =>
    unwrap(client.GET('/api/v1/admin/nodes', { params: { query: { limit: 200, ...page } } })),
  );
}
