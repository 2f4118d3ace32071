import { unwrap } from '@gpuaas/sdk/problem';
import { client } from '../client.ts';
import { pagedQuery } from '../paged.ts';
import { operatorKeys } from '../query-keys.ts';

export const productsQuery = pagedQuery(operatorKeys.products, (page, signal) =>
  unwrap(client.GET('/api/v1/admin/skus', { params: { query: page }, signal })),
);

export function openProduct({ sku, enabled }: { sku: string; enabled: boolean }) {
  return unwrap(client.PATCH('/api/v1/admin/skus/{sku}', { params: { path: { sku } }, body: { enabled } }));
}
