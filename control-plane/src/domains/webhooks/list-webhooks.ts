import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Db } from '../../platform/db/database.ts';
import { decodePage, pageOf } from '../../platform/http/pagination.ts';
import { describeWebhook } from './describe-webhook.ts';

export async function listWebhooks(
  db: Db,
  now: Date,
  query: { project_id: string; limit: number; page?: string },
): Promise<{ items: components['schemas']['Webhook'][]; next_page: string | null }> {
  const before = decodePage(query.page, ['uuid']);
  const rows = await db
    .selectFrom('webhooks')
    .selectAll()
    .where('project_id', '=', query.project_id)
    .$if(before !== null, (q) => q.where('id', '<', before![0]!))
    .orderBy('id', 'desc')
    .limit(query.limit + 1)
    .execute();
  const page = pageOf(rows, query.limit, (row) => [row.id]);
  return { items: page.rows.map((row) => describeWebhook(row, now)), next_page: page.next_page };
}
