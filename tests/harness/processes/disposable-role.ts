import { createGpuaasClient, type GpuaasClient } from '@gpuaas/sdk/client';
import { unwrap } from '@gpuaas/sdk/problem';
import type { Allocation } from '../allocations/allocations.ts';
import type { TestPlatform } from '../platform.ts';

/** A service account that may connect to the machines of the project, until its role is taken away. */
export async function disposableRole(
  platform: TestPlatform,
  { organization_id, project_id }: Allocation,
): Promise<{ client: GpuaasClient; takeAway: () => Promise<void> }> {
  const { service_account, token } = await unwrap(
    platform.admin.POST('/api/v1/service-accounts', { body: { project_id, name: 'connects' } }),
  );
  const binding = await unwrap(
    platform.admin.POST('/api/v1/permission-bindings', {
      body: {
        organization_id,
        project_id,
        permission_group: 'regular_user',
        holder: { type: 'service_account', id: service_account.id },
      },
    }),
  );
  const takeAway = async (): Promise<void> => {
    await unwrap(
      platform.admin.DELETE('/api/v1/permission-bindings/{permission_binding_id}', {
        params: { path: { permission_binding_id: binding.id } },
      }),
    );
  };
  return { client: createGpuaasClient({ baseUrl: platform.baseUrl, apiKey: token! }), takeAway };
}
