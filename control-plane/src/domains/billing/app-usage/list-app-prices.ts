import type { Selectable } from 'kysely';
import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Tx } from '../../../platform/db/database.ts';
import type { AppUsagePrices } from '../../../platform/db/generated/schema.ts';
import { decodePage, pageOf } from '../../../platform/http/pagination.ts';
import { moneyJson } from '../../../platform/money.ts';

type Price = components['schemas']['AppUsagePrice'];

export async function listAppPrices(
  tx: Tx,
  query: { limit: number; page?: string },
): Promise<{ items: Price[]; next_page: string | null }> {
  const before = decodePage(query.page, ['uuid']);
  const rows = await tx
    .selectFrom('app_usage_prices')
    .selectAll()
    .$if(before !== null, (q) => q.where('id', '<', before![0]!))
    .orderBy('id', 'desc')
    .limit(query.limit + 1)
    .execute();
  const page = pageOf(rows, query.limit, (row) => [row.id]);
  return { items: page.rows.map(describeAppPrice), next_page: page.next_page };
}

export function describeAppPrice(row: Selectable<AppUsagePrices>): Price {
  return {
    id: row.id,
    app: row.app,
    dimension: row.dimension as Price['dimension'],
    price: moneyJson({ currency: row.currency, micros: row.per_block_micros }),
    per: Number(row.block),
    effective_from: row.effective_from.toISOString(),
    created_at: row.created_at.toISOString(),
  };
}
