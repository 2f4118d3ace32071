import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { decodePage, pageOf } from '../../../platform/http/pagination.ts';
import { describeMembers } from './describe-members.ts';
import { selectMembers } from './find-member.ts';

export async function listMembers(
  tx: Tx,
  query: { organization_id: string; limit: number; page?: string },
): Promise<{ items: components['schemas']['Member'][]; next_page: string | null }> {
  const after = decodePage(query.page, ['uuid']);
  const rows = await selectMembers(tx)
    .where('m.organization_id', '=', query.organization_id)
    .$if(after !== null, (q) => q.where('m.id', '>', after![0]!))
    .orderBy('m.id')
    .limit(query.limit + 1)
    .execute();
  const page = pageOf(rows, query.limit, (row) => [row.id]);
  return { items: await describeMembers(tx, page.rows), next_page: page.next_page };
}
