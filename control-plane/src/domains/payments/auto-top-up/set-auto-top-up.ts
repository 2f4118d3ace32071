import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { notFound, Problem } from '../../../platform/http/problem.ts';
import { moneyJson } from '../../../platform/money.ts';
import type { Services } from '../../../platform/services.ts';
import { invalidAmount, requireChargeable } from '../payment-limits.ts';
import type { ProviderName } from '../provider.ts';
import { requireMethod } from '../start-payment.ts';
import { chargedThisMonth } from './charged-this-month.ts';

export async function setAutoTopUp(
  services: Pick<Services, 'policies' | 'clock'>,
  tx: Tx,
  provider: ProviderName | null,
  asked: components['schemas']['SetAutoTopUp'],
): Promise<void> {
  const { organization_id, amount, threshold, monthly_cap } = asked;
  if (provider === null)
    throw new Problem('payment_provider_missing', 'No payment provider can charge a saved method.');
  requireChargeable(services, organization_id, amount);
  for (const [pointer, other] of [
    ['/threshold/currency', threshold],
    ['/monthly_cap/currency', monthly_cap],
  ] as const) {
    if (other.currency !== amount.currency) throw invalidAmount(pointer, `must be ${amount.currency}`);
  }
  if (monthly_cap.micros < amount.micros)
    throw invalidAmount('/monthly_cap/micros', 'must allow one top-up a month');
  await requireMethod(tx, organization_id, provider, asked.payment_method_id);
  const settings = {
    enabled: asked.enabled,
    payment_method_id: asked.payment_method_id,
    currency: amount.currency,
    threshold_micros: BigInt(threshold.micros),
    amount_micros: BigInt(amount.micros),
    monthly_cap_micros: BigInt(monthly_cap.micros),
    // Setting it again clears the delay after a failure.
    waits_until: null,
    last_failure: null,
    updated_at: services.clock.now(),
  };
  await tx
    .insertInto('auto_top_ups')
    .values({ organization_id, ...settings })
    .onConflict((c) => c.column('organization_id').doUpdateSet(settings))
    .execute();
}

export async function describeAutoTopUp(
  tx: Tx,
  organizationId: string,
  now: Date,
): Promise<components['schemas']['AutoTopUp']> {
  const row = await tx
    .selectFrom('auto_top_ups')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .executeTakeFirst();
  if (!row) throw notFound();
  const { currency } = row;
  const money = (micros: bigint) => moneyJson({ currency, micros });
  return {
    organization_id: organizationId,
    enabled: row.enabled,
    payment_method_id: row.payment_method_id,
    threshold: money(row.threshold_micros),
    amount: money(row.amount_micros),
    monthly_cap: money(row.monthly_cap_micros),
    charged_this_month: money(await chargedThisMonth(tx, { organizationId, currency }, now)),
    waits_until: row.waits_until?.toISOString() ?? null,
    last_failure: row.last_failure,
    updated_at: row.updated_at.toISOString(),
  };
}
