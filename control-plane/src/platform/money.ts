/** An exact amount: integer micro-units of a currency. */
export interface Money {
  currency: string;
  micros: bigint;
}

/** Money as in the contract. */
export interface MoneyJson {
  currency: string;
  micros: number;
}

const SECONDS_PER_HOUR = 3600n;

/**
 * Cost of the first `seconds` at an hourly price. Windows are billed as differences of this cumulative
 * floor, so that they always add up to the cost of the whole.
 */
export function cumulativeCost(perHour: Money, seconds: bigint): Money {
  if (seconds < 0n) throw new RangeError('seconds must not be negative');
  return { currency: perHour.currency, micros: (perHour.micros * seconds) / SECONDS_PER_HOUR };
}

/** Cost of the seconds from `from` to `to` of a lease. */
export function windowCost(perHour: Money, from: bigint, to: bigint): Money {
  if (to < from) throw new RangeError('a window must not end before it begins');
  const micros = cumulativeCost(perHour, to).micros - cumulativeCost(perHour, from).micros;
  return { currency: perHour.currency, micros };
}

export function addMoney(a: Money, b: Money): Money {
  if (a.currency !== b.currency) throw new RangeError(`cannot add ${b.currency} to ${a.currency}`);
  return { currency: a.currency, micros: a.micros + b.micros };
}

export function multiplyMoney(amount: Money, factor: number): Money {
  return { currency: amount.currency, micros: amount.micros * BigInt(factor) };
}

export function wholeSecondsBetween(from: Date, to: Date): bigint {
  return BigInt(Math.max(0, Math.floor((to.getTime() - from.getTime()) / 1000)));
}

export function moneyJson({ currency, micros }: Money): MoneyJson {
  const value = Number(micros);
  if (!Number.isSafeInteger(value)) throw new RangeError(`amount ${micros} does not fit the contract`);
  return { currency, micros: value };
}

const MICROS = 1_000_000n;

/** The exact amount as decimal text, without the currency: `-2.990000`. */
export function decimalText(micros: bigint): string {
  const [sign, size] = micros < 0n ? ['-', -micros] : ['', micros];
  return `${sign}${size / MICROS}.${String(size % MICROS).padStart(6, '0')}`;
}

/** For messages: rounded to the currency's usual digits. */
export function formatRounded({ currency, micros }: Money, locale = 'en'): string {
  return new Intl.NumberFormat(locale, { style: 'currency', currency }).format(
    Number(micros) / Number(MICROS),
  );
}

/** For people: the currency's usual digits, and as many more as the amount has. Nothing is rounded away. */
export function formatMoney({ currency, micros }: Money, locale = 'en'): string {
  const format = new Intl.NumberFormat(locale, { style: 'currency', currency, maximumFractionDigits: 6 });
  // As text, because a number could not hold every amount.
  return format.format(decimalText(micros) as Intl.StringNumericLiteral);
}
