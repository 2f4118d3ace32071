import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { decodePage, pageOf } from '../../../platform/http/pagination.ts';

type Handover = components['schemas']['Handover'];

export async function listHandovers(
  tx: Tx,
  organizationId: string,
  query: { limit: number; page?: string; user_id?: string },
): Promise<{ items: Handover[]; next_page: string | null }> {
  const before = decodePage(query.page, ['uuid']);
  const rows = await tx
    .selectFrom('handed_over_resources')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .$if(query.user_id !== undefined, (q) => q.where('user_id', '=', query.user_id!))
    .$if(before !== null, (q) => q.where('id', '<', before![0]!))
    .orderBy('id', 'desc')
    .limit(query.limit + 1)
    .execute();
  const page = pageOf(rows, query.limit, (row) => [row.id]);
  return {
    items: page.rows.map((row) => ({
      ...row,
      reason: row.reason as Handover['reason'],
      handed_over_at: row.handed_over_at.toISOString(),
    })),
    next_page: page.next_page,
  };
}
