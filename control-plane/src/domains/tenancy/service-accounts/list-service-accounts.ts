import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { fromCursor } from '../../../platform/db/given.ts';
import { decodePage, toPage, type Page } from '../../../platform/http/page.ts';
import { describeServiceAccounts } from './describe-service-account.ts';

export async function listServiceAccounts(
  tx: Tx,
  now: Date,
  query: { project_id: string; limit: number; page?: string },
): Promise<Page<components['schemas']['ServiceAccount']>> {
  const after = decodePage(query.page, ['uuid']);
  const rows = await tx
    .selectFrom('service_accounts')
    .selectAll()
    .where('project_id', '=', query.project_id)
    .$call(fromCursor(after, (q, [id]) => q.where('id', '>', id)))
    .orderBy('id')
    .limit(query.limit + 1)
    .execute();
  const page = toPage(rows, query.limit, (row) => [row.id]);
  return { items: await describeServiceAccounts(tx, page.rows, now), next_page: page.next_page };
}
