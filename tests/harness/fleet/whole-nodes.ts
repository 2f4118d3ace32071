import { unwrap } from '@gpuaas/sdk/problem';
import type { GpuaasClient } from '@gpuaas/sdk/client';
import { expect } from 'vitest';
import { eventually } from '../eventually.ts';

/** As an operator: brings a host into a mode and waits for the end. */
export async function convertNode(
  operator: GpuaasClient,
  nodeId: string,
  mode: 'slice' | 'baremetal',
): Promise<void> {
  const params = { path: { node_id: nodeId } };
  const { id } = await unwrap(
    operator.POST('/api/v1/admin/nodes/{node_id}/convert', { params, body: { mode, reason: 'demand' } }),
  );
  const ended = await eventually('the conversion to end', async () => {
    const { items } = await unwrap(operator.GET('/api/v1/admin/nodes/{node_id}/conversions', { params }));
    return items.find((one) => one.id === id && one.state !== 'running') ?? null;
  });
  expect(ended).toMatchObject({ state: 'succeeded' });
}

/** As an operator: puts a host in baremetal mode on sale as its latest discovery shows it. */
export async function offerWholeNode(operator: GpuaasClient, nodeId: string): Promise<void> {
  const params = { path: { node_id: nodeId } };
  const { task } = await unwrap(
    operator.GET('/api/v1/admin/nodes/{node_id}/slice-topology/discovery', { params }),
  );
  await unwrap(
    operator.POST('/api/v1/admin/nodes/{node_id}/whole-node-offer', {
      params,
      body: { discovery_task_id: task.id },
    }),
  );
}
