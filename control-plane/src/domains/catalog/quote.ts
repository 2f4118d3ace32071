import type { Selectable } from 'kysely';
import type { Db, Tx } from '../../platform/db/database.ts';
import type { SkuCatalog } from '../../platform/db/generated/schema.ts';
import { Problem } from '../../platform/http/problem.ts';
import type { Money } from '../../platform/money.ts';
import type { Policies } from '../../platform/policy/policies.ts';
import type { Services } from '../../platform/services.ts';
import type { CapacityShape } from '../placement/candidate.ts';
import { isEntitled } from './entitlements.ts';
import { buyerOf, priceAt, pricesAt, type PriceBookEntry } from './price-book.ts';

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

export interface QuoteRequest {
  sku: string;
  gpuCount: number;
  region: string;
  /** The buyer; null for the public offer. */
  organizationId: string | null;
}

type Sources = Pick<Services, 'clock' | 'policies'>;

/** Catalog facts of a product, read earlier. */
export interface CatalogSnapshot {
  product: ProductRow | null;
  /** Null without a setting of the tenant. */
  entitled: boolean | null;
  /** Null if the region does not exist. */
  regionStatus: string | null;
  imageDigest: string | null;
  prices: readonly PriceBookEntry[];
}

/**
 * Checks that product, size, image and region are available to the tenant and returns their price at the time `at` that
 * the snapshot was read for: it contains no other prices.
 */
export function quoteFromSnapshot(
  policies: Sources['policies'],
  asked: QuoteRequest & { image: string },
  shelf: CatalogSnapshot,
  at: Date,
): Offer {
  const product = requireForSale(policies, asked, shelf);
  const priced = withPrice(policies, at, asked, product, shelf.prices);
  return withImage(priced, asked.image, shelf.imageDigest);
}

/** Refuses a product that the tenant may not buy, regardless of its price. */
export function requireForSale(
  policies: Policies,
  asked: QuoteRequest,
  { product, entitled, regionStatus }: Pick<CatalogSnapshot, 'product' | 'entitled' | 'regionStatus'>,
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
  if (!digest) {
    const detail = `No image ${image} can be launched: it does not exist, or no build of it is approved yet.`;
    throw new Problem('image_unknown', detail);
  }
  return { ...product, imageDigest: digest };
}

/** Quotes a product regardless of the image, which does not change the price. */
export async function quoteProduct(
  { clock, policies }: Sources,
  db: Db | Tx,
  asked: QuoteRequest,
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

function requireOnSale(policies: Policies, asked: QuoteRequest, sku: ProductRow | null): ProductRow {
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
  asked: QuoteRequest,
  sku: ProductRow,
  prices: readonly PriceBookEntry[],
): Product {
  const buyer = buyerOf(policies, asked.organizationId);
  const price = priceAt(prices, at, buyer);
  if (!price) {
    throw new Problem('sku_unknown', `${asked.sku} has no price in ${asked.region} in ${buyer.currency}.`);
  }
  return {
    sku: sku.sku,
    shape: sku.capacity_shape,
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
