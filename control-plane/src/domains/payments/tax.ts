const WHOLE = 10_000n;

/** The tax in an amount that contains it; what is given back contains it too. */
export function taxIn(grossMicros: bigint, basisPoints: number): bigint {
  return (grossMicros * BigInt(basisPoints)) / (WHOLE + BigInt(basisPoints));
}

/** What an amount is with the tax on top of it. */
export function withTax(netMicros: bigint, basisPoints: number): bigint {
  return netMicros + (netMicros * BigInt(basisPoints)) / WHOLE;
}
