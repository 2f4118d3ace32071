import type { Tx } from '../../platform/db/database.ts';
import type { Services } from '../../platform/services.ts';
import { secretContext } from './create-webhook.ts';
import type { WebhookRow } from './find-webhook.ts';
import { newSigningSecret } from './signature.ts';

/** A new secret signs from now on; the previous one also signs for a while. */
export async function rotateSecret(
  services: Services,
  tx: Tx,
  webhook: WebhookRow,
): Promise<{ row: WebhookRow; secret: string }> {
  const secret = newSigningSecret();
  const overlap = services.policies.get('webhooks.secret_overlap_seconds', {
    organizationId: webhook.organization_id,
  });
  const row = await tx
    .updateTable('webhooks')
    .set({
      sealed_secret: services.sealer.seal('webhook_secret', secret, secretContext(webhook.id)),
      sealed_previous_secret: webhook.sealed_secret,
      previous_secret_expires_at: new Date(services.clock.now().getTime() + overlap * 1000),
    })
    .where('id', '=', webhook.id)
    .returningAll()
    .executeTakeFirstOrThrow();
  return { row, secret };
}

/** The secrets that sign at `now`, newest first. */
export function validSecrets(
  { sealer }: Pick<Services, 'sealer'>,
  webhook: Pick<WebhookRow, 'sealed_secret' | 'sealed_previous_secret' | 'previous_secret_expires_at'> & {
    id: string;
  },
  now: Date,
): string[] {
  const context = secretContext(webhook.id);
  const secrets = [sealer.open('webhook_secret', webhook.sealed_secret, context)];
  const overlaps = webhook.previous_secret_expires_at !== null && webhook.previous_secret_expires_at > now;
  if (webhook.sealed_previous_secret && overlaps)
    secrets.push(sealer.open('webhook_secret', webhook.sealed_previous_secret, context));
  return secrets;
}
