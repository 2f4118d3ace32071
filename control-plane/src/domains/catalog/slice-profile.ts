import type { Db, Tx } from '../../platform/db/database.ts';

/** CPU and memory that a GPU brings along. */
export interface SliceProfile {
  vcpu: number;
  memoryGib: number;
}

/** Profiles of the slice products, by GPU model; of several products for a model the first by name counts. */
export async function sliceProfiles(db: Db | Tx): Promise<Map<string, SliceProfile>> {
  const rows = await db
    .selectFrom('sku_catalog')
    .select(['gpu_model', 'vcpu_per_gpu', 'memory_gib_per_gpu'])
    .where('capacity_shape', '=', 'gpu_slice')
    .orderBy('sku', 'desc')
    .execute();
  return new Map(
    rows.map((row) => [row.gpu_model, { vcpu: row.vcpu_per_gpu, memoryGib: row.memory_gib_per_gpu }]),
  );
}
