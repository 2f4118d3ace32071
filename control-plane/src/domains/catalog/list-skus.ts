import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Tx } from '../../platform/db/database.ts';
import { withRole } from '../../platform/db/scope.ts';
import { moneyJson } from '../../platform/money.ts';
import type { CatalogServices } from './needs.ts';
import { availabilityOf } from './availability.ts';
import { setEntitlements } from './entitlements.ts';
import { buyerOf, priceAt, pricesAt } from './price-book.ts';

type Sku = components['schemas']['Sku'];

/** Products on sale with price and aggregate availability; never which node or device. */
export async function listSkus(
  {
    clock,
    policies,
    placementCandidates,
  }: Pick<CatalogServices, 'clock' | 'policies' | 'placementCandidates'>,
  tx: Tx,
  organizationId: string | null,
): Promise<Sku[]> {
  const scope = organizationId === null ? {} : { organizationId };
  const slices = policies.get('catalog.slices_enabled', scope);
  const byDefault = policies.get('catalog.entitled_by_default', scope);
  const entitled =
    organizationId === null ? new Map<string, boolean>() : await setEntitlements(tx, organizationId);
  const rows = await tx
    .selectFrom('sku_catalog')
    .selectAll()
    .where('enabled', '=', true)
    .$if(!slices, (q) => q.where('capacity_shape', '<>', 'gpu_slice'))
    .orderBy('sku')
    .execute();
  const nodes = await withRole(tx, 'gpuaas_placement', () => placementCandidates(policies, tx));
  const regions = await openRegions(tx);
  const at = clock.now();
  const buyer = buyerOf(policies, organizationId);
  const prices = await pricesAt(tx, at, buyer);
  return rows.flatMap((row): Sku[] => {
    const shape = row.capacity_shape;
    const product = { shape, gpuModel: row.gpu_model, gpuCounts: row.allowed_gpu_counts };
    const availability = regions.flatMap((region) => {
      const booked = prices.filter((price) => price.sku === row.sku && price.region === region);
      const price = priceAt(booked, at, buyer);
      if (!price) return [];
      const stock = availabilityOf(nodes, region, product);
      return [{ region, ...stock, price_per_gpu_hour: moneyJson(price.perGpuHour) }];
    });
    const lowest = availability.toSorted(
      (a, b) => a.price_per_gpu_hour.micros - b.price_per_gpu_hour.micros,
    )[0];
    // Without a price it is not for sale.
    if (!lowest) return [];
    return [
      {
        sku: row.sku,
        display_name: row.display_name,
        capacity_shape: shape,
        gpu_model: row.gpu_model,
        gpus_total: row.gpus_total,
        allowed_gpu_counts: row.allowed_gpu_counts,
        resource_profile: { vcpu_per_gpu: row.vcpu_per_gpu, memory_gib_per_gpu: row.memory_gib_per_gpu },
        price_per_gpu_hour: lowest.price_per_gpu_hour,
        entitled: entitled.get(row.sku) ?? byDefault,
        availability,
      },
    ];
  });
}

async function openRegions(tx: Tx): Promise<string[]> {
  const rows = await tx
    .selectFrom('regions')
    .select('region')
    .where('status', '=', 'enabled')
    .orderBy('region')
    .execute();
  return rows.map(({ region }) => region);
}
