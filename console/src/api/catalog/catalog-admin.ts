import { unwrap } from '@gpuaas/sdk/problem';
import { client } from '../client.ts';
import { pagedQuery } from '../paged.ts';
import { operatorKeys } from '../query-keys.ts';
import type { Money, Region } from '../types.ts';

export const pricesQuery = (organizationId: string | undefined) =>
  pagedQuery([...operatorKeys.prices, organizationId ?? null], (page, signal) =>
    unwrap(
      client.GET('/api/v1/admin/prices', {
        params: { query: { ...(organizationId ? { organization_id: organizationId } : {}), ...page } },
        signal,
      }),
    ),
  );

export interface NewPrice {
  sku: string;
  region: string;
  organization_id?: string;
  per_gpu_hour: Money;
  effective_from?: string;
  reason?: string;
  confirm_large_change?: boolean;
}

export function addPrice(body: NewPrice) {
  return unwrap(client.POST('/api/v1/admin/prices', { body }));
}

export function withdrawPrice(id: string) {
  return unwrap(client.DELETE('/api/v1/admin/prices/{price_id}', { params: { path: { price_id: id } } }));
}

export function addRegion(body: { region: string; display_name: string }) {
  return unwrap(client.POST('/api/v1/admin/regions', { body }));
}

export function setRegionStatus({ region, status }: Pick<Region, 'region' | 'status'>) {
  return unwrap(
    client.PATCH('/api/v1/admin/regions/{region}', { params: { path: { region } }, body: { status } }),
  );
}

export const adminImagesQuery = pagedQuery(operatorKeys.images, (page, signal) =>
  unwrap(client.GET('/api/v1/admin/images', { params: { query: page }, signal })),
);

export interface NewImage {
  image: string;
  display_name: string;
  kind: 'base' | 'cuda-dev';
  readiness_checks: ('nvidia_driver' | 'cuda_toolkit')[];
}

export function addImage(body: NewImage) {
  return unwrap(client.POST('/api/v1/admin/images', { body }));
}

export function blessImage({ image, digest, reason }: { image: string; digest: string; reason: string }) {
  return unwrap(
    client.POST('/api/v1/admin/images/{image}/bless', {
      params: { path: { image } },
      body: { digest, reason },
    }),
  );
}
