import { add, cumulativeCost, type Money } from '../../platform/money.ts';
import type { LeaseFacts, Meter } from './meter-lease.ts';
import { leaseSecond, servedSeconds } from './served-seconds.ts';

/**
 * What a lease has cost since its last record, by the same arithmetic as its next one. While its host is heard of,
 * the seconds up to now count; when it falls silent, those up to its last evidence.
 */
export function accruedSince(meter: Meter, facts: LeaseFacts, unreachableSeconds: number, now: Date): Money {
  const to = leaseSecond(meter.startedAt, liveTo(meter, facts, unreachableSeconds, now));
  const from = meter.meteredSeconds;
  const served = to > from ? servedSeconds(meter.startedAt, from, to, facts.outages) : 0n;
  const whole = cumulativeCost(meter.perHour, meter.billedSeconds + served);
  return add(whole, { currency: whole.currency, micros: -meter.billedMicros });
}

function liveTo(meter: Meter, facts: LeaseFacts, unreachableSeconds: number, now: Date): Date {
  const { evidenceAt, releaseRequestedAt } = facts;
  const heard = evidenceAt !== null && now.getTime() - evidenceAt.getTime() <= unreachableSeconds * 1000;
  const seen = heard ? now : (evidenceAt ?? meter.startedAt);
  return releaseRequestedAt && releaseRequestedAt < seen ? releaseRequestedAt : seen;
}
