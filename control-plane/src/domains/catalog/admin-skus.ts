import type { Selectable } from 'kysely';
import type { components, operations } from '@gpuaas/contracts/generated/openapi.ts';
import type { Db, Tx } from '../../platform/db/database.ts';
import { fromCursor } from '../../platform/db/given.ts';
import type { SkuCatalog } from '../../platform/db/generated/schema.ts';
import { decodePage, toPage, type Page } from '../../platform/http/page.ts';
import { notFound } from '../../platform/http/problem.ts';
import { requireValidGpuCounts } from './gpu-counts.ts';

type AdminSku = components['schemas']['AdminSku'];

/** Every product by name, on sale or not. */
export async function listAdminSkus(
  db: Db,
  query: { limit: number; page?: string },
): Promise<Page<AdminSku>> {
  const after = decodePage(query.page, ['text']);
  const rows = await db
    .selectFrom('sku_catalog')
    .selectAll()
    .$call(fromCursor(after, (q, [sku]) => q.where('sku', '>', sku)))
    .orderBy('sku')
    .limit(query.limit + 1)
    .execute();
  const page = toPage(rows, query.limit, (row) => [row.sku]);
  return { items: page.rows.map(describeAdminSku), next_page: page.next_page };
}

export async function getAdminSku(
  db: Db | Tx,
  sku: string,
  options: { lock?: boolean } = {},
): Promise<AdminSku> {
  const row = await db
    .selectFrom('sku_catalog')
    .selectAll()
    .where('sku', '=', sku)
    .$if(options.lock ?? false, (q) => q.forUpdate())
    .executeTakeFirst();
  if (!row) throw notFound();
  return describeAdminSku(row);
}

type SkuChange = operations['updateSku']['requestBody']['content']['application/json'];

/** The row must be locked. */
export async function updateSku(tx: Tx, before: AdminSku, change: SkuChange): Promise<AdminSku> {
  const { resource_profile, ...columns } = change;
  requireValidGpuCounts({ ...before, ...columns });
  const row = await tx
    .updateTable('sku_catalog')
    .set({ ...columns, ...resource_profile })
    .where('sku', '=', before.sku)
    .returningAll()
    .executeTakeFirstOrThrow();
  return describeAdminSku(row);
}

export function describeAdminSku(row: Selectable<SkuCatalog>): AdminSku {
  return {
    sku: row.sku,
    display_name: row.display_name,
    capacity_shape: row.capacity_shape,
    gpu_model: row.gpu_model,
    gpus_total: row.gpus_total,
    allowed_gpu_counts: row.allowed_gpu_counts,
    resource_profile: { vcpu_per_gpu: row.vcpu_per_gpu, memory_gib_per_gpu: row.memory_gib_per_gpu },
    enabled: row.enabled,
  };
}
