import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Caller } from '../../platform/auth/caller.ts';
import type { Db } from '../../platform/db/database.ts';
import { fromCursor } from '../../platform/db/given.ts';
import { decodePage, toPage, type Page } from '../../platform/http/page.ts';
import { describeWebhookFor } from './describe-webhook.ts';

export async function listWebhooks(
  db: Db,
  caller: Caller,
  now: Date,
  query: { project_id: string; limit: number; page?: string },
): Promise<Page<components['schemas']['Webhook']>> {
  const before = decodePage(query.page, ['uuid']);
  const rows = await db
    .selectFrom('webhooks')
    .selectAll()
    .where('project_id', '=', query.project_id)
    .$call(fromCursor(before, (q, [id]) => q.where('id', '<', id)))
    .orderBy('id', 'desc')
    .limit(query.limit + 1)
    .execute();
  const page = toPage(rows, query.limit, (row) => [row.id]);
  return { items: page.rows.map((row) => describeWebhookFor(caller, row, now)), next_page: page.next_page };
}
