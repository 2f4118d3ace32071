import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { GpuaasClient } from '@gpuaas/sdk/client';
import { unwrap } from '@gpuaas/sdk/problem';
import { eventually } from '../eventually.ts';

export type Allocation = components['schemas']['Allocation'];

export function launchBody(projectId: string, gpuCount: number) {
  return {
    project_id: projectId,
    sku: 'h200-sxm-slice',
    gpu_count: gpuCount,
    image: 'H200-ubuntu-24.04-gpuaas-slice',
    region: 'uae-north-1',
  };
}

export async function launch(client: GpuaasClient, projectId: string, gpuCount: number): Promise<Allocation> {
  return await unwrap(client.POST('/api/v1/allocations', { body: launchBody(projectId, gpuCount) }));
}

export async function waitForState(
  client: GpuaasClient,
  allocationId: string,
  state: Allocation['state'],
  deadlineMs?: number,
): Promise<Allocation> {
  let last = '';
  try {
    return await eventually(
      `state ${state}`,
      async () => {
        const allocation = await getAllocation(client, allocationId);
        last = `${allocation.state} ${JSON.stringify(allocation.failure)}`;
        return allocation.state === state ? allocation : null;
      },
      deadlineMs,
    );
  } catch (error) {
    throw new Error(`${String(error)}; it is ${last}`, { cause: error });
  }
}

export async function getAllocation(client: GpuaasClient, allocationId: string): Promise<Allocation> {
  return await unwrap(
    client.GET('/api/v1/allocations/{allocation_id}', { params: { path: { allocation_id: allocationId } } }),
  );
}

export async function release(client: GpuaasClient, allocationId: string): Promise<Allocation> {
  return await unwrap(
    client.POST('/api/v1/allocations/{allocation_id}/release', {
      params: { path: { allocation_id: allocationId } },
    }),
  );
}
