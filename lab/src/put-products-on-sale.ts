import { createHash } from 'node:crypto';
import type { GpuaasClient } from '@gpuaas/sdk/client';
import { unwrap } from '@gpuaas/sdk/problem';

const SLICES = 'h200-sxm-slice';

/** As an operator: puts slices on sale, which never happens automatically. Safe to repeat. */
export async function putProductsOnSale(client: GpuaasClient): Promise<void> {
  await approveSimulatedImages(client);
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

/** Simulated machines boot no disk image, so any digest serves; one that an operator approved stays. */
async function approveSimulatedImages(client: GpuaasClient): Promise<void> {
  const { items } = await unwrap(client.GET('/api/v1/admin/images', { params: { query: { limit: 200 } } }));
  for (const { image } of items.filter(({ digest }) => digest === null)) {
    const digest = `sha256:${createHash('sha256').update(`simulated ${image}`).digest('hex')}`;
    await unwrap(
      client.POST('/api/v1/admin/images/{image}/bless', {
        params: { path: { image } },
        body: { digest, reason: 'Simulated machines boot no image.' },
      }),
    );
  }
}
