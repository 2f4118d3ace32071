import type { Tx } from '../../../platform/db/database.ts';
import { newId } from '../../../platform/ids.ts';
import type { ProviderName } from '../provider.ts';

/** Saves the payment method if the payer agreed; restores one that was removed before. */
export async function savePaymentMethod(
  tx: Tx,
  payment: { organization_id: string; provider: ProviderName },
  method: { ref: string; label: string },
  now: Date,
): Promise<void> {
  await tx
    .insertInto('payment_methods')
    .values({
      id: newId(),
      organization_id: payment.organization_id,
      provider: payment.provider,
      provider_ref: method.ref,
      label: method.label.slice(0, 100),
      created_at: now,
    })
    .onConflict((c) =>
      c.columns(['organization_id', 'provider', 'provider_ref']).doUpdateSet({ removed_at: null }),
    )
    .execute();
}
