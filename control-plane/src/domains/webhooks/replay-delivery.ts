import type { Tx } from '../../platform/db/database.ts';
import { notFound } from '../../platform/http/problem.ts';
import type { DeliveryRow } from './describe-delivery.ts';
import { enqueueReplay, requireEnabled } from './enqueue-delivery.ts';
import type { Services } from '../../platform/services.ts';
import type { WebhookRow } from './find-webhook.ts';
import { requireRequestRate } from './require-request-rate.ts';

export async function replayDelivery(
  services: Pick<Services, 'policies'>,
  tx: Tx,
  webhook: WebhookRow,
  deliveryId: string,
): Promise<DeliveryRow> {
  requireEnabled(webhook);
  const original = await tx
    .selectFrom('webhook_deliveries')
    .selectAll()
    .where('id', '=', deliveryId)
    .where('webhook_id', '=', webhook.id)
    .executeTakeFirst();
  if (!original) throw notFound();
  await requireRequestRate(services, tx, webhook);
  return await enqueueReplay(tx, original);
}
