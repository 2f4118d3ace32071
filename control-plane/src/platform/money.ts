/** An exact amount: integer micro-units of a currency. */
export interface Money {
  currency: string;
  micros: bigint;
}

/** What the contract carries. */
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

export function times(amount: Money, factor: number): Money {
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
