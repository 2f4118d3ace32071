import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Tx } from '../../platform/db/database.ts';
import { Problem } from '../../platform/http/problem.ts';
import { describeAdminSku } from './admin-skus.ts';
import { requireValidGpuCounts } from './gpu-counts.ts';
import { requireSoldShape } from './sold-shapes.ts';

/** Adds a product; it is closed until an operator opens it. */
export async function createSku(
  tx: Tx,
  body: components['schemas']['CreateSku'],
): Promise<components['schemas']['AdminSku']> {
  const capacityShape = requireSoldShape(body);
  requireValidGpuCounts(body);
  const row = await tx
    .insertInto('sku_catalog')
    .values({
      sku: body.sku,
      display_name: body.display_name,
      capacity_shape: capacityShape,
      gpu_model: body.gpu_model,
      gpus_total: body.gpus_total,
      allowed_gpu_counts: body.allowed_gpu_counts,
      ...body.resource_profile,
    })
    .onConflict((c) => c.doNothing())
    .returningAll()
    .executeTakeFirst();
  if (!row) throw new Problem('name_taken', `There is a product ${body.sku}.`);
  return describeAdminSku(row);
}
