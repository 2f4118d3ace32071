import { sql } from 'kysely';
import type { Tx } from '../../platform/db/database.ts';
import type { Envelope } from '../../platform/events/event-log.ts';
import { Problem } from '../../platform/http/problem.ts';
import { newId } from '../../platform/ids.ts';
import type { DeliveryRow } from './describe-delivery.ts';
import type { WebhookRow } from './find-webhook.ts';

export const WEBHOOKS_CHANNEL = 'gpuaas_webhooks';

/** Queues an event for each of the webhooks; a webhook that has it already keeps its first delivery. */
export async function enqueueEvent(tx: Tx, webhookIds: string[], envelope: Envelope): Promise<DeliveryRow[]> {
  if (webhookIds.length === 0) return [];
  const body = JSON.stringify(envelope);
  const rows = await tx
    .insertInto('webhook_deliveries')
    .values(
      webhookIds.map((webhook_id) => ({
        id: newId(),
        webhook_id,
        event_id: envelope.event_id,
        event_type: envelope.event_type,
        body,
      })),
    )
    .onConflict((c) => c.columns(['webhook_id', 'event_id']).where('replay_of', 'is', null).doNothing())
    .returningAll()
    .execute();
  await wakeDeliverers(tx);
  return rows;
}

export async function enqueueReplay(tx: Tx, original: DeliveryRow): Promise<DeliveryRow> {
  const { webhook_id, event_id, event_type, body } = original;
  const row = await tx
    .insertInto('webhook_deliveries')
    .values({ id: newId(), webhook_id, event_id, event_type, body, replay_of: original.id })
    .returningAll()
    .executeTakeFirstOrThrow();
  await wakeDeliverers(tx);
  return row;
}

export function requireEnabled(webhook: WebhookRow): void {
  if (webhook.state === 'enabled') return;
  throw new Problem(
    'webhook_disabled',
    `Enable the webhook first. It was disabled: ${webhook.disabled_reason}.`,
  );
}

export async function wakeDeliverers(tx: Tx): Promise<void> {
  await sql`select pg_notify(${WEBHOOKS_CHANNEL}, '')`.execute(tx);
}
