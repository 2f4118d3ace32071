import type { Db, Tx } from '../../platform/db/database.ts';
import { Problem } from '../../platform/http/problem.ts';

/** CPU and memory that one GPU of a model brings along, from the slice product of that model. */
export async function sliceProfile(tx: Tx, gpuModel: string): Promise<{ vcpu: number; memoryGib: number }> {
  const row = await tx
    .selectFrom('sku_catalog')
    .select(['vcpu_per_gpu', 'memory_gib_per_gpu'])
    .where('capacity_shape', '=', 'gpu_slice')
    .where('gpu_model', '=', gpuModel)
    .orderBy('sku')
    .executeTakeFirst();
  if (!row) throw new Problem('sku_unknown', `No slice product is defined for ${gpuModel}.`);
  return { vcpu: row.vcpu_per_gpu, memoryGib: row.memory_gib_per_gpu };
}

/** GPU models that a slice product is defined for. */
export async function sliceModels(db: Db | Tx): Promise<Set<string>> {
  const rows = await db
    .selectFrom('sku_catalog')
    .select('gpu_model')
    .distinct()
    .where('capacity_shape', '=', 'gpu_slice')
    .execute();
  return new Set(rows.map((row) => row.gpu_model));
}
