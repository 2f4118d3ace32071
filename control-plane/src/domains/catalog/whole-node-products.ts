import type { Db, Tx } from '../../platform/db/database.ts';

/** GPU model and size of every product that sells whole hosts. */
export async function wholeNodeProducts(db: Db | Tx): Promise<{ gpuModel: string; gpusTotal: number }[]> {
  const rows = await db
    .selectFrom('sku_catalog')
    .select(['gpu_model', 'gpus_total'])
    .where('capacity_shape', '=', 'baremetal')
    .execute();
  return rows.map(({ gpu_model, gpus_total }) => ({ gpuModel: gpu_model, gpusTotal: gpus_total }));
}
