import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Tx } from '../../platform/db/database.ts';
import { fromCursor } from '../../platform/db/given.ts';
import { decodePage, toPage, type Page } from '../../platform/http/page.ts';
import { describeSecret, SECRET_COLUMNS } from './describe-secret.ts';

export async function listSecrets(
  tx: Tx,
  query: { project_id: string; limit: number; page?: string },
): Promise<Page<components['schemas']['ProjectSecret']>> {
  const after = decodePage(query.page, ['text']);
  const rows = await tx
    .selectFrom('project_secrets')
    .select(SECRET_COLUMNS)
    .where('project_id', '=', query.project_id)
    .$call(fromCursor(after, (q, [name]) => q.where('name', '>', name)))
    .orderBy('name')
    .limit(query.limit + 1)
    .execute();
  const page = toPage(rows, query.limit, (row) => [row.name]);
  return { items: page.rows.map(describeSecret), next_page: page.next_page };
}
