import type { GpuaasClient } from '@gpuaas/sdk/client';
import type { components } from '@gpuaas/sdk/contract';
import { ProblemError, unwrap } from '@gpuaas/sdk/problem';

type Schemas = components['schemas'];

/** What can be ordered now. */
export interface Offer {
  skus: Schemas['Sku'][];
  images: Schemas['Image'][];
  /** The caller's own. */
  sshKeys: Schemas['SshKey'][];
}

export async function readOffer(client: GpuaasClient): Promise<Offer> {
  const [skus, images, sshKeys] = await Promise.all([
    unwrap(client.GET('/api/v1/skus')),
    unwrap(client.GET('/api/v1/images')),
    ownKeys(client),
  ]);
  return { skus: skus.items.filter((sku) => sku.entitled), images: images.items, sshKeys };
}

/** A service account has no personal keys. */
async function ownKeys(client: GpuaasClient): Promise<Schemas['SshKey'][]> {
  try {
    const page = await unwrap(client.GET('/api/v1/ssh-keys', { params: { query: { limit: 20 } } }));
    return page.items;
  } catch (error) {
    if (error instanceof ProblemError && error.problem.status === 403) return [];
    throw error;
  }
}
