import type { Db, Tx } from '../../platform/db/database.ts';
import { given } from '../../platform/db/given.ts';
import type { Money } from '../../platform/money.ts';
import type { Policies } from '../../platform/policy/policies.ts';

/** A row of the price book. */
export interface PriceBookEntry {
  id: string;
  /** Null for the list price. */
  organizationId: string | null;
  perGpuHour: Money;
  effectiveFrom: Date;
  effectiveUntil: Date | null;
}

/** Buyer of a quote. */
export interface Buyer {
  /** Null for the list price. */
  organizationId: string | null;
  currency: string;
  discountBasisPoints: number;
}

export interface QuotedPrice {
  priceId: string;
  perGpuHour: Money;
}

const WHOLE = 10_000n;

/**
 * The buyer's price of one product in one region at a time: the tenant's own price unchanged, else the list
 * price less the discount. Of several that apply, the one that took effect last.
 */
export function priceAt(prices: readonly PriceBookEntry[], at: Date, buyer: Buyer): QuotedPrice | null {
  const holding = prices
    .filter(({ perGpuHour }) => perGpuHour.currency === buyer.currency)
    .filter(
      ({ effectiveFrom, effectiveUntil }) => effectiveFrom <= at && !(effectiveUntil && effectiveUntil <= at),
    )
    .toSorted((a, b) => b.effectiveFrom.getTime() - a.effectiveFrom.getTime());
  const own = buyer.organizationId && holding.find((price) => price.organizationId === buyer.organizationId);
  if (own) return { priceId: own.id, perGpuHour: own.perGpuHour };
  const listed = holding.find((price) => price.organizationId === null);
  return listed
    ? { priceId: listed.id, perGpuHour: discounted(listed.perGpuHour, buyer.discountBasisPoints) }
    : null;
}

function discounted({ currency, micros }: Money, basisPoints: number): Money {
  return { currency, micros: (micros * (WHOLE - BigInt(basisPoints))) / WHOLE };
}

export function buyerOf(policies: Policies, organizationId: string | null): Buyer {
  const scope = organizationId === null ? {} : { organizationId };
  return {
    organizationId,
    currency: policies.get('prices.currency', scope),
    discountBasisPoints: policies.get('prices.discount_basis_points', scope),
  };
}

/** Current prices of the buyer, by product and region; without the history. */
export async function pricesAt(
  db: Db | Tx,
  at: Date,
  { organizationId, currency }: Buyer,
  only: { sku?: string; region?: string } = {},
): Promise<(PriceBookEntry & { sku: string; region: string })[]> {
  const rows = await db
    .selectFrom('sku_prices')
    .selectAll()
    .distinctOn(['sku', 'region', 'organization_id'])
    .where('currency', '=', currency)
    .where('effective_from', '<=', at)
    .where((e) => e.or([e('effective_until', 'is', null), e('effective_until', '>', at)]))
    .where((e) =>
      organizationId === null
        ? e('organization_id', 'is', null)
        : e.or([e('organization_id', 'is', null), e('organization_id', '=', organizationId)]),
    )
    .$call(given(only.sku, (q, sku) => q.where('sku', '=', sku)))
    .$call(given(only.region, (q, region) => q.where('region', '=', region)))
    .orderBy('sku')
    .orderBy('region')
    .orderBy('organization_id')
    .orderBy('effective_from', 'desc')
    .execute();
  return rows.map((row) => ({
    id: row.id,
    sku: row.sku,
    region: row.region,
    organizationId: row.organization_id,
    perGpuHour: { currency: row.currency, micros: row.per_gpu_hour_micros },
    effectiveFrom: row.effective_from,
    effectiveUntil: row.effective_until,
  }));
}
