import { Problem } from '../../../platform/http/problem.ts';
import { formatMoney, moneyJson, type Money, type MoneyJson } from '../../../platform/money.ts';

/** Refuses a price other than the one that the caller was shown, in either direction. */
export function requireExpectedPrice(expected: MoneyJson | undefined, current: Money): void {
  if (!expected) return;
  const shown = { currency: expected.currency, micros: BigInt(expected.micros) };
  if (shown.currency === current.currency && shown.micros === current.micros) return;
  const detail = `A GPU hour cost ${formatMoney(shown)} when it was shown and costs ${formatMoney(current)} now.`;
  throw new Problem('price_changed', detail, {
    extensions: { expected_per_gpu_hour: expected, current_per_gpu_hour: moneyJson(current) },
  });
}
