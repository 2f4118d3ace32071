import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Db } from '../../platform/db/database.ts';
import { decodePage, pageOf } from '../../platform/http/pagination.ts';
import { describeDeliveries } from './describe-delivery.ts';

type Delivery = components['schemas']['WebhookDelivery'];

export async function listDeliveries(
  db: Db,
  webhookId: string,
  query: { limit: number; page?: string; state?: Delivery['state'] },
): Promise<{ items: Delivery[]; next_page: string | null }> {
  const before = decodePage(query.page, ['uuid']);
  const rows = await db
    .selectFrom('webhook_deliveries')
    .selectAll()
    .where('webhook_id', '=', webhookId)
    .$if(query.state !== undefined, (q) => q.where('state', '=', query.state!))
    .$if(before !== null, (q) => q.where('id', '<', before![0]!))
    .orderBy('id', 'desc')
    .limit(query.limit + 1)
    .execute();
  const page = pageOf(rows, query.limit, (row) => [row.id]);
  return { items: await describeDeliveries(db, page.rows), next_page: page.next_page };
}
