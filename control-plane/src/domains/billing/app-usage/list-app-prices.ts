import type { Selectable } from 'kysely';
import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { fromCursor } from '../../../platform/db/given.ts';
import type { AppUsagePrices } from '../../../platform/db/generated/schema.ts';
import { decodePage, toPage, type Page } from '../../../platform/http/page.ts';
import { moneyJson } from '../../../platform/money.ts';

type Price = components['schemas']['AppUsagePrice'];

export async function listAppPrices(tx: Tx, query: { limit: number; page?: string }): Promise<Page<Price>> {
  const before = decodePage(query.page, ['uuid']);
  const rows = await tx
    .selectFrom('app_usage_prices')
    .selectAll()
    .$call(fromCursor(before, (q, [id]) => q.where('id', '<', id)))
    .orderBy('id', 'desc')
    .limit(query.limit + 1)
    .execute();
  const page = toPage(rows, query.limit, (row) => [row.id]);
  return { items: page.rows.map(describeAppPrice), next_page: page.next_page };
}

export function describeAppPrice(row: Selectable<AppUsagePrices>): Price {
  return {
    id: row.id,
    app: row.app,
    dimension: row.dimension,
    price: moneyJson({ currency: row.currency, micros: row.per_block_micros }),
    per: Number(row.block),
    effective_from: row.effective_from.toISOString(),
    created_at: row.created_at.toISOString(),
  };
}
