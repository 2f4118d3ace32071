import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { decodePage, pageOf } from '../../../platform/http/pagination.ts';
import { describeServiceAccounts } from './describe-service-account.ts';

export async function listServiceAccounts(
  tx: Tx,
  now: Date,
  query: { project_id: string; limit: number; page?: string },
): Promise<{ items: components['schemas']['ServiceAccount'][]; next_page: string | null }> {
  const after = decodePage(query.page, ['uuid']);
  const rows = await tx
    .selectFrom('service_accounts')
    .selectAll()
    .where('project_id', '=', query.project_id)
    .$if(after !== null, (q) => q.where('id', '>', after![0]!))
    .orderBy('id')
    .limit(query.limit + 1)
    .execute();
  const page = pageOf(rows, query.limit, (row) => [row.id]);
  return { items: await describeServiceAccounts(tx, page.rows, now), next_page: page.next_page };
}
