import type { Quota } from '../api/types.ts';
import { formatMoney, microsOf } from '../format/money.ts';

type Measure = Pick<Quota, 'measure' | 'unit'>;

/** Spend is counted in micro-units of its currency, everything else in things. */
export function quotaAmount({ measure, unit }: Measure, amount: number): string {
  if (measure === 'spend_per_hour' && unit) return `${formatMoney({ currency: unit, micros: amount })} / h`;
  return amount.toLocaleString('en-US');
}

/** A limit as it stands in the field that changes it. */
export function typedOfLimit({ measure }: Measure, limit: number): string {
  return measure === 'spend_per_hour' ? String(limit / 1_000_000) : String(limit);
}

/** The limit somebody typed; null when it is none. */
export function limitOfTyped({ measure }: Measure, typed: string): number | null {
  const micros = microsOf(typed);
  if (micros === null || micros < 0) return null;
  if (measure === 'spend_per_hour') return micros;
  return micros % 1_000_000 === 0 ? micros / 1_000_000 : null;
}
