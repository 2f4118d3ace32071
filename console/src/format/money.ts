import type { Money } from '../api/types.ts';

const MICROS = 1_000_000;
const SYMBOLS: Record<string, string> = { USD: '$', EUR: '€', GBP: '£', AED: 'AED ' };

/**
 * An amount as people write it, exact: two decimals, and further ones only where the amount has them.
 * `decimals` fixes their number instead and rounds half up.
 */
export function formatMoney(money: Money, decimals?: number): string {
  const micros = roundTo(Math.abs(money.micros), decimals ?? 6);
  const whole = Math.floor(micros / MICROS);
  const all = String(micros % MICROS).padStart(6, '0');
  const fraction =
    decimals === undefined ? all.slice(0, 2) + all.slice(2).replace(/0+$/, '') : all.slice(0, decimals);
  const sign = money.micros < 0 && micros > 0 ? '−' : '';
  const symbol = SYMBOLS[money.currency] ?? `${money.currency} `;
  return `${sign}${symbol}${whole.toLocaleString('en-US')}${fraction ? `.${fraction}` : ''}`;
}

function roundTo(micros: number, decimals: number): number {
  const unit = 10 ** (6 - decimals);
  return Math.round(micros / unit) * unit;
}

export function isMoney(value: unknown): value is Money {
  return typeof value === 'object' && value !== null && 'micros' in value && 'currency' in value;
}

export function multiplyMoney(money: Money, factor: number): Money {
  return { currency: money.currency, micros: money.micros * factor };
}

/** Cost of an hourly price over a period, rounded down to the micro like the bill. */
export function costOver(perHour: Money, milliseconds: number): Money {
  return { currency: perHour.currency, micros: Math.floor((perHour.micros * milliseconds) / 3_600_000) };
}

export function addMoney(a: Money, b: Money): Money {
  return { currency: a.currency, micros: a.micros + b.micros };
}

/** The exact typed amount in micro-units; null when it is no amount. */
export function parseMicros(typed: string): number | null {
  const match = /^(-?)(\d{1,9})(?:\.(\d{1,6}))?$/.exec(typed.trim());
  if (!match) return null;
  const micros = Number(match[2]) * MICROS + Number((match[3] ?? '').padEnd(6, '0'));
  return match[1] && micros !== 0 ? -micros : micros;
}

/** An amount as the value of an input field. */
export function toInputValue(money: Money | undefined, otherwise: string): string {
  return money ? String(money.micros / MICROS) : otherwise;
}
