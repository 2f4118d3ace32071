import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Db } from '../../platform/db/database.ts';
import { fromCursor, given } from '../../platform/db/given.ts';
import { decodePage, toPage, type Page } from '../../platform/http/page.ts';
import { describeDeliveries } from './describe-delivery.ts';

type Delivery = components['schemas']['WebhookDelivery'];

export async function listDeliveries(
  db: Db,
  webhookId: string,
  query: { limit: number; page?: string; state?: Delivery['state'] },
): Promise<Page<Delivery>> {
  const before = decodePage(query.page, ['uuid']);
  const rows = await db
    .selectFrom('webhook_deliveries')
    .selectAll()
    .where('webhook_id', '=', webhookId)
    .$call(given(query.state, (q, state) => q.where('state', '=', state)))
    .$call(fromCursor(before, (q, [id]) => q.where('id', '<', id)))
    .orderBy('id', 'desc')
    .limit(query.limit + 1)
    .execute();
  const page = toPage(rows, query.limit, (row) => [row.id]);
  return { items: await describeDeliveries(db, page.rows), next_page: page.next_page };
}
