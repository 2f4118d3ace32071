import { addMoney, cumulativeCost, type Money } from '../../../platform/money.ts';
import { withUnproven, type LeaseFacts, type Meter } from './meter-lease.ts';
import { leaseSecond, servedSeconds, type Outage } from './served-seconds.ts';

export interface LeaseCost {
  total: Money;
  /** Whether the next second will cost something, as far as known. */
  isAccruing: boolean;
}

/**
 * Cost of a lease so far, by the arithmetic of its next record. While its host reports, the seconds up to now
 * count; when the host is silent, those up to its last evidence. Every page that shows a cost uses this.
 */
export function leaseCost(meter: Meter, facts: LeaseFacts, unreachableSeconds: number, now: Date): LeaseCost {
  const { currency } = meter.perHour;
  if (meter.endedAt) return { total: { currency, micros: meter.billedMicros }, isAccruing: false };
  const isHeard = isHostHeard(facts, unreachableSeconds, now);
  const to = countedSeconds(meter, facts, isHeard ? now : facts.evidenceAt);
  const from = meter.meteredSeconds;
  const served = to > from ? servedSeconds(meter.startedAt, from, to, facts.outages) : 0n;
  return {
    total: cumulativeCost(meter.perHour, meter.billedSeconds + served),
    isAccruing: isHeard && facts.releaseRequestedAt === null && !facts.outages.some(isOpen),
  };
}

/**
 * Cost of the first seconds of a lease, by the facts of now: the cost of any part of it is a difference of two of these.
 * Beyond what counts so far it stays at the cost of the lease.
 */
export function costOfFirst(
  meter: Meter,
  facts: LeaseFacts,
  unreachableSeconds: number,
  now: Date,
): (seconds: bigint) => bigint {
  const isHeard = isHostHeard(facts, unreachableSeconds, now);
  const counted = meter.endedAt
    ? meter.meteredSeconds
    : countedSeconds(meter, facts, isHeard ? now : facts.evidenceAt);
  const end = counted > meter.meteredSeconds ? counted : meter.meteredSeconds;
  const outages = withUnproven(facts.outages, meter.unprovenAfter);
  return (seconds) => {
    const to = seconds < end ? seconds : end;
    return cumulativeCost(meter.perHour, servedSeconds(meter.startedAt, 0n, to, outages)).micros;
  };
}

/** Cost of a lease since its last record. */
export function accruedSince(meter: Meter, facts: LeaseFacts, unreachableSeconds: number, now: Date): Money {
  const { total } = leaseCost(meter, facts, unreachableSeconds, now);
  return addMoney(total, { currency: total.currency, micros: -meter.billedMicros });
}

function isHostHeard({ evidenceAt }: LeaseFacts, unreachableSeconds: number, now: Date): boolean {
  return evidenceAt !== null && now.getTime() - evidenceAt.getTime() <= unreachableSeconds * 1000;
}

function countedSeconds(meter: Meter, { releaseRequestedAt }: LeaseFacts, seenTo: Date | null): bigint {
  const seen = seenTo ?? meter.startedAt;
  const to = releaseRequestedAt && releaseRequestedAt < seen ? releaseRequestedAt : seen;
  return leaseSecond(meter.startedAt, to);
}

function isOpen({ served, endedAt }: Pick<Outage, 'served' | 'endedAt'>): boolean {
  return !served && endedAt === null;
}
