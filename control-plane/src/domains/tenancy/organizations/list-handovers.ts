import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { fromCursor, given } from '../../../platform/db/given.ts';
import { decodePage, toPage, type Page } from '../../../platform/http/page.ts';

type Handover = components['schemas']['Handover'];

export async function listHandovers(
  tx: Tx,
  organizationId: string,
  query: { limit: number; page?: string; user_id?: string },
): Promise<Page<Handover>> {
  const before = decodePage(query.page, ['uuid']);
  const rows = await tx
    .selectFrom('handed_over_resources')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .$call(given(query.user_id, (q, userId) => q.where('user_id', '=', userId)))
    .$call(fromCursor(before, (q, [id]) => q.where('id', '<', id)))
    .orderBy('id', 'desc')
    .limit(query.limit + 1)
    .execute();
  const page = toPage(rows, query.limit, (row) => [row.id]);
  return {
    items: page.rows.map((row) => ({
      ...row,
      reason: row.reason,
      handed_over_at: row.handed_over_at.toISOString(),
    })),
    next_page: page.next_page,
  };
}
