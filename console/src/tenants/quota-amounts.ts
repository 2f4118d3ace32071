import type { Quota } from '../api/types.ts';
import { formatMoney, parseMicros } from '../format/money.ts';

type Measure = Pick<Quota, 'measure' | 'unit'>;

/** Spend is counted in micro-units of its currency, everything else in units. */
export function formatQuotaAmount({ measure, unit }: Measure, amount: number): string {
  if (measure === 'spend_per_hour' && unit) return `${formatMoney({ currency: unit, micros: amount })} / h`;
  return amount.toLocaleString('en-US');
}

/** A limit as the value of its input field. */
export function limitToInputValue({ measure }: Measure, limit: number): string {
  return measure === 'spend_per_hour' ? String(limit / 1_000_000) : String(limit);
}

/** The typed limit; null when invalid. */
export function parseLimit({ measure }: Measure, typed: string): number | null {
  const micros = parseMicros(typed);
  if (micros === null || micros < 0) return null;
  if (measure === 'spend_per_hour') return micros;
  return micros % 1_000_000 === 0 ? micros / 1_000_000 : null;
}
