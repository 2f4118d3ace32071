import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { fromCursor } from '../../../platform/db/given.ts';
import { decodePage, toPage, type Page } from '../../../platform/http/page.ts';
import { tenantResourceName } from '../../../platform/ids.ts';

type PaymentMethod = components['schemas']['PaymentMethod'];

export async function listMethods(
  tx: Tx,
  query: { organization_id: string; limit: number; page?: string },
): Promise<Page<PaymentMethod>> {
  const before = decodePage(query.page, ['uuid']);
  const rows = await tx
    .selectFrom('payment_methods')
    .selectAll()
    .where('organization_id', '=', query.organization_id)
    .where('removed_at', 'is', null)
    .$call(fromCursor(before, (q, [id]) => q.where('id', '<', id)))
    .orderBy('id', 'desc')
    .limit(query.limit + 1)
    .execute();
  const page = toPage(rows, query.limit, (row) => [row.id]);
  const items = page.rows.map((row) => ({
    id: row.id,
    resource_name: tenantResourceName(row.organization_id, 'payment_method', row.id),
    provider: row.provider,
    label: row.label,
    created_at: row.created_at.toISOString(),
  }));
  return { items, next_page: page.next_page };
}
