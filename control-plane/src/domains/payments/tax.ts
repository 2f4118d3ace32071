const WHOLE = 10_000n;

/** The tax contained in a gross amount; a refund contains it too. */
export function includedTax(grossMicros: bigint, basisPoints: number): bigint {
  return (grossMicros * BigInt(basisPoints)) / (WHOLE + BigInt(basisPoints));
}

/** An amount plus tax. */
export function addTax(netMicros: bigint, basisPoints: number): bigint {
  return netMicros + (netMicros * BigInt(basisPoints)) / WHOLE;
}
