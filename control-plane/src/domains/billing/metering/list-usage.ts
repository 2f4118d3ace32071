import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { fromCursor, given } from '../../../platform/db/given.ts';
import { decodePage, toPage, type Page } from '../../../platform/http/page.ts';
import { moneyJson } from '../../../platform/money.ts';

export async function listUsage(
  tx: Tx,
  query: { organization_id: string; allocation_id?: string; limit: number; page?: string },
): Promise<Page<components['schemas']['UsageRecord']>> {
  const before = decodePage(query.page, ['uuid']);
  const rows = await tx
    .selectFrom('usage_records')
    .selectAll()
    .where('organization_id', '=', query.organization_id)
    .$call(given(query.allocation_id, (q, allocationId) => q.where('allocation_id', '=', allocationId)))
    .$call(fromCursor(before, (q, [id]) => q.where('id', '<', id)))
    .orderBy('id', 'desc')
    .limit(query.limit + 1)
    .execute();
  const page = toPage(rows, query.limit, (row) => [row.id]);
  const items = page.rows.map((row) => ({
    id: row.id,
    allocation_id: row.allocation_id,
    project_id: row.project_id,
    user_id: row.user_id,
    sku: row.sku,
    region: row.region,
    gpu_count: row.gpu_count,
    per_hour: moneyJson({ currency: row.currency, micros: row.per_hour_micros }),
    window_from: row.window_from.toISOString(),
    window_to: row.window_to.toISOString(),
    billed_seconds: Number(row.billed_seconds),
    amount: moneyJson({ currency: row.currency, micros: row.amount_micros }),
    corrects_usage_id: row.corrects_usage_id,
    reason: row.reason,
    ledger_transaction_id: row.ledger_transaction_id,
    recorded_at: row.recorded_at.toISOString(),
  }));
  return { items, next_page: page.next_page };
}
