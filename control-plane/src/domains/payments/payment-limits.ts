import { Problem } from '../../platform/http/problem.ts';
import { moneyJson, type MoneyJson } from '../../platform/money.ts';
import type { Services } from '../../platform/services.ts';
import { microsPerMinor } from './minor-units.ts';

export function paymentLimits(
  { policies }: Pick<Services, 'policies'>,
  organizationId: string,
): { currency: string; minimum: MoneyJson; maximum: MoneyJson } {
  const currency = policies.get('prices.currency', { organizationId });
  const money = (micros: number) => moneyJson({ currency, micros: BigInt(micros) });
  return {
    currency,
    minimum: money(policies.get('payments.minimum_micros', { organizationId })),
    maximum: money(policies.get('payments.maximum_micros', { organizationId })),
  };
}

/**
 * Refuses an amount that cannot be charged: another currency than the tenant's, fractions of a cent, too
 * little, too much.
 */
export function requireChargeable(
  services: Pick<Services, 'policies'>,
  organizationId: string,
  amount: MoneyJson,
): void {
  const { currency, minimum, maximum } = paymentLimits(services, organizationId);
  if (amount.currency !== currency) throw invalidAmount('/amount/currency', `must be ${currency}`);
  const smallest = microsPerMinor(currency);
  if (smallest === null || BigInt(amount.micros) % smallest !== 0n) {
    throw invalidAmount('/amount/micros', `must be a multiple of ${smallest ?? 'a known unit'}`);
  }
  if (amount.micros < minimum.micros || amount.micros > maximum.micros) {
    throw invalidAmount('/amount/micros', `must be from ${minimum.micros} to ${maximum.micros}`);
  }
}

export function invalidAmount(pointer: string, detail: string): Problem {
  return new Problem('payment_amount_refused', `The amount ${detail}.`, { errors: [{ pointer, detail }] });
}
