import type { Db, Tx } from '../../platform/db/database.ts';
import { Problem } from '../../platform/http/problem.ts';
import type { Money } from '../../platform/money.ts';
import type { Services } from '../../platform/services.ts';
import type { CapacityShape } from '../placement/candidate.ts';
import { isEntitled } from './entitlements.ts';
import { buyerOf, priceAt, pricesAt } from './price-book.ts';

export interface Product {
  sku: string;
  shape: CapacityShape;
  gpuModel: string;
  vcpuPerGpu: number;
  memoryGibPerGpu: number;
  allowedGpuCounts: number[];
  priceId: string;
  perGpuHour: Money;
}

export interface Offer extends Product {
  imageDigest: string;
}

export interface Asked {
  sku: string;
  gpuCount: number;
  region: string;
  /** Who would buy; null asks what everybody is offered. */
  organizationId: string | null;
}

type Sources = Pick<Services, 'clock' | 'policies'>;

/** Checks that the asked product, size, image and region are on sale to the tenant and returns what they cost now. */
export async function quoteLaunch(
  sources: Sources,
  db: Db | Tx,
  asked: Asked & { image: string },
): Promise<Offer> {
  const product = await quoteProduct(sources, db, asked);
  const image = await db
    .selectFrom('images')
    .select('digest')
    .where('image', '=', asked.image)
    .executeTakeFirst();
  if (!image?.digest) throw new Problem('image_unknown', `There is no image ${asked.image}.`);
  return { ...product, imageDigest: image.digest };
}

/** The same whatever the image: it does not change the price. */
export async function quoteProduct(
  { clock, policies }: Sources,
  db: Db | Tx,
  asked: Asked,
): Promise<Product> {
  const { organizationId } = asked;
  const sku = await db
    .selectFrom('sku_catalog')
    .selectAll()
    .where('sku', '=', asked.sku)
    .where('enabled', '=', true)
    .executeTakeFirst();
  if (!sku) throw new Problem('sku_unknown', `The product ${asked.sku} is not on sale.`);
  const scope = organizationId === null ? {} : { organizationId };
  if (sku.capacity_shape === 'gpu_slice' && !policies.get('catalog.slices_enabled', scope)) {
    throw new Problem(
      'slice_products_disabled',
      'Slices are sold once the operator sets the policy catalog.slices_enabled.',
    );
  }
  if (!sku.allowed_gpu_counts.includes(asked.gpuCount)) {
    const allowed = sku.allowed_gpu_counts.join(', ');
    throw new Problem('gpu_count_not_allowed', `${asked.sku} is sold with ${allowed} GPUs.`, {
      extensions: { allowed_gpu_counts: sku.allowed_gpu_counts, requested_gpu_count: asked.gpuCount },
    });
  }
  if (organizationId !== null && !(await isEntitled(policies, db, organizationId, sku.sku))) {
    throw new Problem(
      'sku_not_entitled',
      `The organization may not buy ${sku.sku}; ask the operator for it.`,
    );
  }
  await requireOpenRegion(db, asked.region);
  const buyer = buyerOf(policies, organizationId);
  const at = clock.now();
  const price = priceAt(await pricesAt(db, at, buyer, asked), at, buyer);
  if (!price) {
    throw new Problem('sku_unknown', `${asked.sku} has no price in ${asked.region} in ${buyer.currency}.`);
  }
  return {
    sku: sku.sku,
    shape: sku.capacity_shape as CapacityShape,
    gpuModel: sku.gpu_model,
    vcpuPerGpu: sku.vcpu_per_gpu,
    memoryGibPerGpu: sku.memory_gib_per_gpu,
    allowedGpuCounts: sku.allowed_gpu_counts,
    ...price,
  };
}

async function requireOpenRegion(db: Db | Tx, name: string): Promise<void> {
  const region = await db
    .selectFrom('regions')
    .select('status')
    .where('region', '=', name)
    .executeTakeFirst();
  if (region?.status === 'enabled') return;
  const why = region ? 'is not open yet' : 'does not exist';
  throw new Problem('region_unavailable', `The region ${name} ${why}.`);
}
