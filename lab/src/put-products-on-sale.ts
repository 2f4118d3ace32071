import type { GpuaasClient } from '@gpuaas/sdk/client';
import { unwrap } from '@gpuaas/sdk/problem';

const SLICES = 'h200-sxm-slice';

/** As an operator: puts slices on sale, which never happens automatically. Safe to repeat. */
export async function putProductsOnSale(client: GpuaasClient): Promise<void> {
  await unwrap(
    client.PUT('/api/v1/admin/policies/{policy_name}', {
      params: { path: { policy_name: 'catalog.slices_enabled' } },
      body: { value: true, reason: 'Slices of the simulated fleet are for sale.' },
    }),
  );
  await unwrap(
    client.PATCH('/api/v1/admin/skus/{sku}', {
      params: { path: { sku: SLICES } },
      body: { enabled: true },
    }),
  );
}
