import type { Money } from '../api/types.ts';

const MICROS = 1_000_000;
const SYMBOLS: Record<string, string> = { USD: '$', EUR: '€', GBP: '£', AED: 'AED ' };

/**
 * An amount as people write it, exact: two decimals, and further ones only where the amount has them.
 * `decimals` fixes their number instead and cuts off the rest, as the ledger does.
 */
export function formatMoney(money: Money, decimals?: number): string {
  const micros = Math.abs(money.micros);
  const whole = Math.floor(micros / MICROS);
  const all = String(micros % MICROS).padStart(6, '0');
  const fraction =
    decimals === undefined ? all.slice(0, 2) + all.slice(2).replace(/0+$/, '') : all.slice(0, decimals);
  const sign = money.micros < 0 ? '−' : '';
  const symbol = SYMBOLS[money.currency] ?? `${money.currency} `;
  return `${sign}${symbol}${whole.toLocaleString('en-US')}${fraction ? `.${fraction}` : ''}`;
}

export function times(money: Money, factor: number): Money {
  return { currency: money.currency, micros: money.micros * factor };
}

/** What an hourly price comes to over a span, rounded down to the micro as the bill is. */
export function priceOver(perHour: Money, milliseconds: number): Money {
  return { currency: perHour.currency, micros: Math.floor((perHour.micros * milliseconds) / 3_600_000) };
}

export function plus(a: Money, b: Money): Money {
  return { currency: a.currency, micros: a.micros + b.micros };
}

/** What somebody typed, exactly, in micro-units; null when it is no amount. */
export function microsOf(typed: string): number | null {
  const match = /^(-?)(\d{1,9})(?:\.(\d{1,6}))?$/.exec(typed.trim());
  if (!match) return null;
  const micros = Number(match[2]) * MICROS + Number((match[3] ?? '').padEnd(6, '0'));
  return match[1] && micros !== 0 ? -micros : micros;
}

/** An amount as it stands in a field that changes it. */
export function typedOf(money: Money | undefined, otherwise: string): string {
  return money ? String(money.micros / MICROS) : otherwise;
}
