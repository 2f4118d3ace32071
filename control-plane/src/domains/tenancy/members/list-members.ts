import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { fromCursor } from '../../../platform/db/given.ts';
import { decodePage, toPage, type Page } from '../../../platform/http/page.ts';
import { describeMembers } from './describe-members.ts';
import { selectMembers } from './find-member.ts';

export async function listMembers(
  tx: Tx,
  query: { organization_id: string; limit: number; page?: string },
): Promise<Page<components['schemas']['Member']>> {
  const after = decodePage(query.page, ['uuid']);
  const rows = await selectMembers(tx)
    .where('m.organization_id', '=', query.organization_id)
    .$call(fromCursor(after, (q, [id]) => q.where('m.id', '>', id)))
    .orderBy('m.id')
    .limit(query.limit + 1)
    .execute();
  const page = toPage(rows, query.limit, (row) => [row.id]);
  return { items: await describeMembers(tx, page.rows), next_page: page.next_page };
}
