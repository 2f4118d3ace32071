import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Tx } from '../../platform/db/database.ts';
import { Problem } from '../../platform/http/problem.ts';
import { newId } from '../../platform/ids.ts';
import type { Services } from '../../platform/services.ts';
import { requireChargeable } from './payment-limits.ts';
import type { ProviderName } from './provider.ts';

/** Records a tenant's payment; the provider is called next. Returns the payment's id. */
export async function startPayment(
  services: Pick<Services, 'policies' | 'clock'>,
  tx: Tx,
  provider: ProviderName | null,
  asked: components['schemas']['CreatePayment'],
  by: { userId: string | null; correlationId: string },
): Promise<string> {
  const organizationId = asked.organization_id;
  if (provider === null) {
    throw new Problem('payment_provider_missing', 'Ask the operator for an invoice.');
  }
  requireChargeable(services, organizationId, asked.amount);
  if (asked.payment_method_id) {
    await requireMethod(tx, organizationId, provider, asked.payment_method_id);
  }
  const now = services.clock.now();
  const seconds = services.policies.get('payments.checkout_seconds');
  const id = newId();
  await tx
    .insertInto('payments')
    .values({
      id,
      organization_id: organizationId,
      provider,
      purpose: 'top_up',
      state: 'created',
      currency: asked.amount.currency,
      amount_micros: BigInt(asked.amount.micros),
      tax_basis_points: services.policies.get('billing.tax_basis_points', { organizationId }),
      payment_method_id: asked.payment_method_id ?? null,
      keep_method: asked.keep_method ?? false,
      expires_at: asked.payment_method_id ? null : new Date(now.getTime() + seconds * 1000),
      created_by: by.userId,
      correlation_id: by.correlationId,
      created_at: now,
      next_look_at: now,
    })
    .execute();
  return id;
}

export async function requireMethod(
  tx: Tx,
  organizationId: string,
  provider: ProviderName,
  methodId: string,
): Promise<void> {
  const method = await tx
    .selectFrom('payment_methods')
    .select('id')
    .where('id', '=', methodId)
    .where('organization_id', '=', organizationId)
    .where('provider', '=', provider)
    .where('removed_at', 'is', null)
    .executeTakeFirst();
  if (method) return;
  throw new Problem('payment_method_unknown', 'Keep a payment method with a payment first.', {
    errors: [{ pointer: '/payment_method_id', detail: 'is not kept by the tenant' }],
  });
}
