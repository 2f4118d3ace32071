import { payloadError } from '@gpuaas/contracts/events';
import type { Tx } from '../../platform/db/database.ts';
import { newId } from '../../platform/ids.ts';
import type { Services } from '../../platform/services.ts';
import type { DeliveryRow } from './describe-delivery.ts';
import { enqueueEvent, requireEnabled } from './enqueue-delivery.ts';
import type { WebhookRow } from './find-webhook.ts';
import { requireRequestRate } from './require-request-rate.ts';
import { present } from '../../platform/present.ts';

/** Queues a `webhook.test` for this webhook alone, whatever types it is subscribed to. */
export async function sendTestEvent(
  services: Pick<Services, 'clock' | 'policies'>,
  tx: Tx,
  webhook: WebhookRow,
  correlationId: string,
): Promise<DeliveryRow> {
  requireEnabled(webhook);
  await requireRequestRate(services, tx, webhook);
  const payload = {
    webhook_id: webhook.id,
    organization_id: webhook.organization_id,
    project_id: webhook.project_id,
  };
  const mismatch = payloadError('webhook.test', payload);
  if (mismatch) throw new Error(mismatch);
  const [delivery] = await enqueueEvent(tx, [webhook.id], {
    event_id: newId(),
    event_type: 'webhook.test',
    occurred_at: services.clock.now().toISOString(),
    version: 1,
    correlation_id: correlationId,
    payload,
  });
  return present(delivery, 'delivery');
}
