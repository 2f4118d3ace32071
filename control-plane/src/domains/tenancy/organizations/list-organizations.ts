import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { fromCursor } from '../../../platform/db/given.ts';
import { decodePage, toPage, type Page } from '../../../platform/http/page.ts';
import { describeOrganization } from './find-organization.ts';

/** Row-level security limits the rows to the caller's organizations. */
export async function listOrganizations(
  tx: Tx,
  query: { limit: number; page?: string },
): Promise<Page<components['schemas']['Organization']>> {
  const after = decodePage(query.page, ['uuid']);
  const rows = await tx
    .selectFrom('organizations')
    .select(['id', 'name', 'created_at'])
    .$call(fromCursor(after, (q, [id]) => q.where('id', '>', id)))
    .orderBy('id')
    .limit(query.limit + 1)
    .execute();
  const page = toPage(rows, query.limit, (row) => [row.id]);
  return { items: page.rows.map(describeOrganization), next_page: page.next_page };
}
