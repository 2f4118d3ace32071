import { sql } from 'kysely';
import type { Db, Tx } from '../../platform/db/database.ts';
import { Problem } from '../../platform/http/problem.ts';
import type { Money } from '../../platform/money.ts';

export interface SlicePrice {
  sku: string;
  gpuModel: string;
  vcpuPerGpu: number;
  memoryGibPerGpu: number;
  allowedGpuCounts: number[];
  priceId: string;
  perGpuHour: Money;
}

export interface SliceOffer extends SlicePrice {
  imageDigest: string;
}

/** Checks that the asked product, size, image and region are on sale and returns what they cost now. */
export async function quoteSlice(
  db: Db | Tx,
  asked: { sku: string; gpuCount: number; image: string; region: string },
): Promise<SliceOffer> {
  const price = await priceSlice(db, asked);
  const image = await db
    .selectFrom('images')
    .select('digest')
    .where('image', '=', asked.image)
    .executeTakeFirst();
  if (!image) throw new Problem('image_unknown', `There is no image ${asked.image}.`);
  return { ...price, imageDigest: image.digest };
}

/** The same whatever the image: it does not change the price. */
export async function priceSlice(
  db: Db | Tx,
  asked: { sku: string; gpuCount: number; region: string },
): Promise<SlicePrice> {
  const sku = await db
    .selectFrom('sku_catalog')
    .selectAll()
    .where('sku', '=', asked.sku)
    .where('enabled', '=', true)
    .executeTakeFirst();
  if (!sku) throw new Problem('sku_unknown', `The product ${asked.sku} is not on sale.`);
  if (!sku.allowed_gpu_counts.includes(asked.gpuCount)) {
    const allowed = sku.allowed_gpu_counts.join(', ');
    throw new Problem('gpu_count_not_allowed', `${asked.sku} is sold with ${allowed} GPUs.`, {
      extensions: { allowed_gpu_counts: sku.allowed_gpu_counts, requested_gpu_count: asked.gpuCount },
    });
  }
  const region = await db
    .selectFrom('regions')
    .select('status')
    .where('region', '=', asked.region)
    .executeTakeFirst();
  if (region?.status !== 'enabled') {
    const why = region ? 'is not open yet' : 'does not exist';
    throw new Problem('region_unavailable', `The region ${asked.region} ${why}.`);
  }
  const price = await currentPrice(db, asked.sku, asked.region);
  if (!price) throw new Problem('sku_unknown', `${asked.sku} has no price in ${asked.region}.`);
  return {
    sku: sku.sku,
    gpuModel: sku.gpu_model,
    vcpuPerGpu: sku.vcpu_per_gpu,
    memoryGibPerGpu: sku.memory_gib_per_gpu,
    allowedGpuCounts: sku.allowed_gpu_counts,
    priceId: price.id,
    perGpuHour: { currency: price.currency, micros: price.per_gpu_hour_micros },
  };
}

function currentPrice(db: Db | Tx, sku: string, region: string) {
  return db
    .selectFrom('sku_prices')
    .select(['id', 'currency', 'per_gpu_hour_micros'])
    .where('sku', '=', sku)
    .where('region', '=', region)
    .where('effective_from', '<=', sql<Date>`now()`)
    .orderBy('effective_from', 'desc')
    .limit(1)
    .executeTakeFirst();
}
