/** Micros per cent and similar; other currencies cannot be charged. */
const MICROS_PER_MINOR: Record<string, bigint> = {
  USD: 10_000n,
  EUR: 10_000n,
  GBP: 10_000n,
  AED: 10_000n,
  SAR: 10_000n,
};

/** Micro-units of the smallest unit that people can pay with; null for a currency that is not known. */
export function microsPerMinor(currency: string): bigint | null {
  return MICROS_PER_MINOR[currency.toUpperCase()] ?? null;
}

export function toMinor(currency: string, micros: bigint): number {
  const size = microsPerMinor(currency);
  if (size === null || micros % size !== 0n) throw new RangeError(`${micros} ${currency} cannot be charged`);
  return Number(micros / size);
}

export function fromMinor(currency: string, minor: number): bigint {
  const size = microsPerMinor(currency);
  if (size === null) throw new RangeError(`unknown currency ${currency}`);
  return BigInt(minor) * size;
}
