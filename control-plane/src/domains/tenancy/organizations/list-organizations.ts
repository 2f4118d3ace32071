import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { decodePage, pageOf } from '../../../platform/http/pagination.ts';
import { describeOrganization } from './find-organization.ts';

/** Row-level security shows the caller's own. */
export async function listOrganizations(
  tx: Tx,
  query: { limit: number; page?: string },
): Promise<{ items: components['schemas']['Organization'][]; next_page: string | null }> {
  const after = decodePage(query.page, ['uuid']);
  const rows = await tx
    .selectFrom('organizations')
    .select(['id', 'name', 'created_at'])
    .$if(after !== null, (q) => q.where('id', '>', after![0]!))
    .orderBy('id')
    .limit(query.limit + 1)
    .execute();
  const page = pageOf(rows, query.limit, (row) => [row.id]);
  return { items: page.rows.map(describeOrganization), next_page: page.next_page };
}
