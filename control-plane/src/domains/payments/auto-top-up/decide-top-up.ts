/** Facts that decide whether the balance is topped up now. */
export interface TopUpFacts {
  enabled: boolean;
  available: bigint;
  threshold: bigint;
  amount: bigint;
  monthlyCap: bigint;
  chargedThisMonth: bigint;
  /** A pending top-up is awaited first. */
  underWay: boolean;
  waitsUntil: Date | null;
  now: Date;
}

export function isTopUpDue(facts: TopUpFacts): boolean {
  if (!facts.enabled || facts.underWay || facts.available >= facts.threshold) return false;
  if (facts.waitsUntil && facts.waitsUntil > facts.now) return false;
  return facts.chargedThisMonth + facts.amount <= facts.monthlyCap;
}
