import type { Selectable } from 'kysely';
import type { Db, Tx } from '../../platform/db/database.ts';
import type { SkuCatalog } from '../../platform/db/generated/schema.ts';
import { Problem } from '../../platform/http/problem.ts';
import type { Money } from '../../platform/money.ts';
import type { Policies } from '../../platform/policy/policies.ts';
import type { Services } from '../../platform/services.ts';
import type { CapacityShape } from '../placement/candidate.ts';
import { isEntitled } from './entitlements.ts';
import { buyerOf, priceAt, pricesAt, type BookedPrice } from './price-book.ts';

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
  return withImage(product, asked.image, image?.digest ?? null);
}

/** What the catalog says of a product, read before. */
export interface Shelf {
  product: ProductRow | null;
  /** Null where nothing was set for the tenant. */
  entitled: boolean | null;
  /** Null where there is no such region. */
  regionStatus: string | null;
  imageDigest: string | null;
  prices: readonly BookedPrice[];
}

/** The same of what was read before, for the moment `at` that it was read for: no price of another one is known. */
export function offerFrom(
  policies: Sources['policies'],
  asked: Asked & { image: string },
  shelf: Shelf,
  at: Date,
): Offer {
  const product = requireForSale(policies, asked, shelf);
  const priced = withPrice(policies, at, asked, product, shelf.prices);
  return withImage(priced, asked.image, shelf.imageDigest);
}

/** Refuses what is not sold to the tenant, whatever it costs. */
export function requireForSale(
  policies: Policies,
  asked: Asked,
  { product, entitled, regionStatus }: Pick<Shelf, 'product' | 'entitled' | 'regionStatus'>,
): ProductRow {
  const { organizationId } = asked;
  const sku = requireOnSale(policies, asked, product);
  if (organizationId !== null) {
    const byDefault = policies.get('catalog.entitled_by_default', { organizationId });
    requireEntitled(sku, entitled ?? byDefault);
  }
  requireOpen(asked.region, regionStatus);
  return sku;
}

function withImage(product: Product, image: string, digest: string | null): Offer {
  if (!digest) throw new Problem('image_unknown', `There is no image ${image}.`);
  return { ...product, imageDigest: digest };
}

/** The same whatever the image: it does not change the price. */
export async function quoteProduct(
  { clock, policies }: Sources,
  db: Db | Tx,
  asked: Asked,
): Promise<Product> {
  const { organizationId } = asked;
  const row = await db
    .selectFrom('sku_catalog')
    .selectAll()
    .where('sku', '=', asked.sku)
    .where('enabled', '=', true)
    .executeTakeFirst();
  const sku = requireOnSale(policies, asked, row ?? null);
  if (organizationId !== null) requireEntitled(sku, await isEntitled(policies, db, organizationId, sku.sku));
  const region = await db
    .selectFrom('regions')
    .select('status')
    .where('region', '=', asked.region)
    .executeTakeFirst();
  requireOpen(asked.region, region?.status ?? null);
  const at = clock.now();
  return withPrice(
    policies,
    at,
    asked,
    sku,
    await pricesAt(db, at, buyerOf(policies, organizationId), asked),
  );
}

export type ProductRow = Pick<
  Selectable<SkuCatalog>,
  'sku' | 'capacity_shape' | 'gpu_model' | 'vcpu_per_gpu' | 'memory_gib_per_gpu' | 'allowed_gpu_counts'
>;

function requireOnSale(policies: Policies, asked: Asked, sku: ProductRow | null): ProductRow {
  const { organizationId } = asked;
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
  return sku;
}

function requireEntitled({ sku }: ProductRow, entitled: boolean): void {
  if (entitled) return;
  throw new Problem('sku_not_entitled', `The organization may not buy ${sku}; ask the operator for it.`);
}

function withPrice(
  policies: Policies,
  at: Date,
  asked: Asked,
  sku: ProductRow,
  prices: readonly BookedPrice[],
): Product {
  const buyer = buyerOf(policies, asked.organizationId);
  const price = priceAt(prices, at, buyer);
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

function requireOpen(name: string, status: string | null): void {
  if (status === 'enabled') return;
  const why = status === null ? 'does not exist' : 'is not open yet';
  throw new Problem('region_unavailable', `The region ${name} ${why}.`);
}
