import type { Tx } from '../../platform/db/database.ts';
import { emit } from '../../platform/events/emit.ts';
import { newId } from '../../platform/ids.ts';
import { wakeDeliverers } from './enqueue-delivery.ts';
import type { WebhookRow } from './find-webhook.ts';

export async function enableWebhook(tx: Tx, webhook: WebhookRow): Promise<WebhookRow> {
  await wakeDeliverers(tx);
  return await tx
    .updateTable('webhooks')
    .set({
      state: 'enabled',
      disabled_reason: null,
      ...(webhook.state === 'disabled' ? { failing_since: null } : {}),
    })
    .where('id', '=', webhook.id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Stops deliveries and notifies the tenant; the platform does this when an endpoint is dead. */
export async function disableWebhook(tx: Tx, webhookId: string, reason: string): Promise<void> {
  const row = await tx
    .updateTable('webhooks')
    .set({ state: 'disabled', disabled_reason: reason })
    .where('id', '=', webhookId)
    .where('state', '=', 'enabled')
    .returningAll()
    .executeTakeFirst();
  if (!row) return;
  await emit(tx, {
    type: 'webhook.disabled',
    subjectId: row.id,
    organizationId: row.organization_id,
    correlationId: newId(),
    payload: { webhook_id: row.id, organization_id: row.organization_id, project_id: row.project_id, reason },
  });
}
