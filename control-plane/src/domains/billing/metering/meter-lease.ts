import { cumulativeCost, type Money } from '../../../platform/money.ts';
import { leaseSecond, servedSeconds, type Outage } from './served-seconds.ts';
import { first } from '../../../platform/present.ts';

/** Recorded state of a lease. */
export interface Meter {
  startedAt: Date;
  perHour: Money;
  meteredSeconds: bigint;
  billedSeconds: bigint;
  billedMicros: bigint;
  records: bigint;
  seenRevision: bigint;
  endedAt: Date | null;
  unprovenAfter: Date | null;
}

/** Known facts of a lease. Every time is by the platform's clock. */
export interface LeaseFacts {
  releaseRequestedAt: Date | null;
  /** Last heartbeat of the host. */
  evidenceAt: Date | null;
  outages: readonly Outage[];
}

export interface MeterRules {
  windowSeconds: bigint;
  /** Silence after which a host counts as unreachable. */
  unreachableSeconds: number;
}

/** A record to write. A correction covers no additional time and names a second of the window it corrects. */
export type NewUsage = {
  billedSeconds: bigint;
  billedBefore: bigint;
  amountMicros: bigint;
  reason: string;
} & (
  | { kind: 'window'; fromSecond: bigint; toSecond: bigint }
  | { kind: 'correction'; correctedSecond: bigint }
);

export interface MeterResult {
  usage: NewUsage[];
  meter: Meter;
}

/** A long gap is caught up in several runs, so that one lease never takes long. */
const WINDOWS_PER_BATCH = 200;

/**
 * Brings the records of a lease up to date: first corrections of earlier records, then windows that have
 * ended. The meter never runs ahead of the host's evidence; called again with the same facts it adds nothing.
 */
export function meterLease(meter: Meter, facts: LeaseFacts, rules: MeterRules, now: Date): MeterResult {
  const state: MeterResult = { usage: [], meter: { ...meter } };
  correct(state, facts);
  if (!meter.endedAt) addWindows(state, facts, rules, now);
  return state;
}

function correct({ usage, meter }: MeterResult, { outages }: LeaseFacts): void {
  const news = outages.filter(({ revision }) => revision > meter.seenRevision);
  if (news.length === 0) return;
  const unproven = meter.unprovenAfter;
  if (unproven && outages.some((outage) => covers(outage, unproven))) meter.unprovenAfter = null;
  const expected = servedSeconds(
    meter.startedAt,
    0n,
    meter.meteredSeconds,
    withUnproven(outages, meter.unprovenAfter),
  );
  const billedSeconds = expected - meter.billedSeconds;
  if (billedSeconds !== 0n) {
    const earliest = first(
      news.map(({ beganAt }) => leaseSecond(meter.startedAt, beganAt)).toSorted(ascending),
      'new outage',
    );
    const last = meter.meteredSeconds - 1n;
    usage.push({
      kind: 'correction',
      correctedSecond: earliest < last ? earliest : last,
      reason:
        billedSeconds > 0n ? 'the host proved that it was served' : 'the host showed that it was not served',
      ...bill(meter, billedSeconds),
    });
  }
  meter.seenRevision = news
    .map(({ revision }) => revision)
    .toSorted(ascending)
    .at(-1)!;
}

function addWindows(state: MeterResult, facts: LeaseFacts, rules: MeterRules, now: Date): void {
  const { usage, meter } = state;
  const released = facts.releaseRequestedAt;
  const evidence = earlier(facts.evidenceAt ?? meter.startedAt, now);
  const ends = released !== null && evidence >= released;
  const lost =
    released !== null && !ends && now.getTime() >= released.getTime() + rules.unreachableSeconds * 1000;
  const seenTo = leaseSecond(meter.startedAt, ends ? released : evidence);
  const to = ends || lost ? leaseSecond(meter.startedAt, released) : seenTo;
  const unprovenAfter = lost && seenTo < to ? evidence : null;
  const outages = withUnproven(facts.outages, unprovenAfter);
  while (meter.meteredSeconds < to && usage.length < WINDOWS_PER_BATCH) {
    const fromSecond = meter.meteredSeconds;
    const full = (fromSecond / rules.windowSeconds + 1n) * rules.windowSeconds;
    if (full > to && !ends && !lost) return;
    const toSecond = full < to ? full : to;
    const billedSeconds = servedSeconds(meter.startedAt, fromSecond, toSecond, outages);
    meter.meteredSeconds = toSecond;
    usage.push({
      kind: 'window',
      fromSecond,
      toSecond,
      reason: wordsFor(billedSeconds, toSecond - fromSecond),
      ...bill(meter, billedSeconds),
    });
  }
  if (meter.meteredSeconds < to || !(ends || lost)) return;
  meter.endedAt = released;
  meter.unprovenAfter = unprovenAfter;
}

function bill(
  meter: Meter,
  billedSeconds: bigint,
): Pick<NewUsage, 'billedSeconds' | 'billedBefore' | 'amountMicros'> {
  const billedBefore = meter.billedSeconds;
  const total = cumulativeCost(meter.perHour, billedBefore + billedSeconds).micros;
  const amountMicros = total - meter.billedMicros;
  meter.billedSeconds += billedSeconds;
  meter.billedMicros = total;
  meter.records += 1n;
  return { billedSeconds, billedBefore, amountMicros };
}

function wordsFor(billed: bigint, length: bigint): string {
  if (billed === length) return 'served';
  return billed === 0n ? 'not served' : 'partly served';
}

/** With the time after the last evidence of a host that was lost, while nothing proves it. */
export function withUnproven(
  outages: readonly Outage[],
  after: Date | null,
): readonly Omit<Outage, 'revision'>[] {
  return after ? [...outages, { served: false, beganAt: after, endedAt: null }] : outages;
}

function covers({ beganAt, endedAt }: Outage, at: Date): boolean {
  return beganAt <= at && (endedAt === null || endedAt > at);
}

const earlier = (a: Date, b: Date): Date => (a < b ? a : b);
const ascending = (a: bigint, b: bigint): number => (a < b ? -1 : a > b ? 1 : 0);
