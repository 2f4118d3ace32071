import type { Selectable } from 'kysely';
import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { fromCursor, given } from '../../../platform/db/given.ts';
import type { SkuPrices } from '../../../platform/db/generated/schema.ts';
import { decodePage, toPage, type Page } from '../../../platform/http/page.ts';
import { moneyJson } from '../../../platform/money.ts';

type Price = components['schemas']['Price'];

export interface PriceQuery {
  sku?: string;
  region?: string;
  organization_id?: string;
  limit: number;
  page?: string;
}

/** List prices, or those of one tenant; the latest effective date first. */
export async function listPrices(tx: Tx, query: PriceQuery): Promise<Page<Price>> {
  const after = decodePage(query.page, ['instant', 'uuid']);
  const rows = await tx
    .selectFrom('sku_prices')
    .selectAll()
    .where('organization_id', 'is not distinct from', query.organization_id ?? null)
    .$call(given(query.sku, (q, sku) => q.where('sku', '=', sku)))
    .$call(given(query.region, (q, region) => q.where('region', '=', region)))
    .$call(
      fromCursor(after, (q, [at, id]) =>
        q.where((e) => e(e.refTuple('effective_from', 'id'), '<', e.tuple(new Date(at), id))),
      ),
    )
    .orderBy('effective_from', 'desc')
    .orderBy('id', 'desc')
    .limit(query.limit + 1)
    .execute();
  const page = toPage(rows, query.limit, (row) => [row.effective_from.toISOString(), row.id]);
  return { items: page.rows.map(describePrice), next_page: page.next_page };
}

export function describePrice(row: Selectable<SkuPrices>): Price {
  return {
    id: row.id,
    sku: row.sku,
    region: row.region,
    organization_id: row.organization_id,
    per_gpu_hour: moneyJson({ currency: row.currency, micros: row.per_gpu_hour_micros }),
    effective_from: row.effective_from.toISOString(),
    effective_until: row.effective_until?.toISOString() ?? null,
    reason: row.reason,
    created_at: row.created_at.toISOString(),
  };
}
