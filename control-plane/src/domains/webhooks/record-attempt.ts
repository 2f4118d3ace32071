import { sql } from 'kysely';
import type { Db, Tx } from '../../platform/db/database.ts';
import type { Policies } from '../../platform/policy/policies.ts';
import type { ClaimedDelivery } from './claim-deliveries.ts';
import { disableWebhook } from './enable-webhook.ts';
import type { Outcome } from './post-message.ts';
import { retryDelay } from './retry-schedule.ts';

const GONE = 410;

/** Records the attempt and decides what comes next; does nothing if a later claim has the delivery. */
export async function recordAttempt(
  { db, policies }: { db: Db; policies: Policies },
  delivery: ClaimedDelivery,
  outcome: Outcome,
  startedAt: Date,
): Promise<void> {
  const scope = { organizationId: delivery.organization_id };
  const maxAttempts = policies.get('webhooks.max_attempts', scope);
  const disableAfter = policies.get('webhooks.disable_after_seconds');
  await db.transaction().execute(async (tx) => {
    const delay = outcome.error === null ? null : retryDelay(delivery.attempt, maxAttempts);
    const state = outcome.error === null ? 'delivered' : delay === null ? 'failed' : 'pending';
    // Lock the webhook first, as a delete does before its deliveries.
    await settleWebhook(tx, delivery.webhook_id, outcome, disableAfter);
    const updated = await sql`
      update webhook_deliveries
      set state = ${state}, leased_until = '-infinity',
        next_attempt_at = now() + make_interval(secs => ${delay ?? 0}),
        finished_at = case when ${state} = 'pending' then null else now() end
      where id = ${delivery.id} and attempts = ${delivery.attempt} and state = 'pending'`.execute(tx);
    if (updated.numAffectedRows === 0n) return;
    await tx
      .insertInto('webhook_attempts')
      .values({
        delivery_id: delivery.id,
        attempt: delivery.attempt,
        started_at: startedAt,
        duration_ms: outcome.durationMs,
        response_status: outcome.status,
        error: outcome.error,
      })
      .execute();
  });
}

async function settleWebhook(
  tx: Tx,
  webhookId: string,
  outcome: Outcome,
  disableAfter: number,
): Promise<void> {
  if (outcome.error === null) {
    await sql`update webhooks set failing_since = null
      where id = ${webhookId} and failing_since is not null`.execute(tx);
    return;
  }
  const { rows } = await sql<{ seconds: number }>`
    update webhooks set failing_since = coalesce(failing_since, now()) where id = ${webhookId}
    returning extract(epoch from now() - failing_since)::float8 as seconds`.execute(tx);
  const seconds = rows[0]?.seconds ?? 0;
  if (outcome.status === GONE) await disableWebhook(tx, webhookId, 'the endpoint answered 410 Gone');
  else if (seconds > disableAfter) {
    await disableWebhook(tx, webhookId, `every attempt has failed for ${Math.round(seconds / 86_400)} days`);
  }
}
