import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cumulativeCost, wholeSecondsBetween } from '../../../platform/money.ts';
import { meterLease, type LeaseFacts, type Meter, type NewUsage } from './meter-lease.ts';
import { servedSeconds, type Outage } from './served-seconds.ts';

const START = new Date('2026-11-15T10:00:00.250Z');
const after = (ms: number): Date => new Date(START.getTime() + ms);
const seconds = (count: number): Date => after(count * 1000);
const price = fc.bigInt({ min: 0n, max: 10n ** 12n });
const HOUR = { windowSeconds: 3600n, unreachableSeconds: 20 };

const newMeter = (micros: bigint): Meter => ({
  startedAt: START,
  perHour: { currency: 'USD', micros },
  meteredSeconds: 0n,
  billedSeconds: 0n,
  billedMicros: 0n,
  records: 0n,
  seenRevision: 0n,
  endedAt: null,
  unprovenAfter: null,
});

const outage = (from: number, to: number | null, served = false, revision = 1n): Outage => ({
  served,
  beganAt: seconds(from),
  endedAt: to === null ? null : seconds(to),
  revision,
});

const facts = (change: Partial<LeaseFacts> = {}): LeaseFacts => ({
  releaseRequestedAt: null,
  evidenceAt: null,
  outages: [],
  ...change,
});

function tiles(usage: readonly NewUsage[]): void {
  let at = 0n;
  for (const record of usage) {
    if (record.kind !== 'window') continue;
    expect(record.fromSecond).toBe(at);
    expect(record.toSecond).toBeGreaterThan(record.fromSecond);
    at = record.toSecond;
  }
}

const total = (usage: readonly NewUsage[]): bigint => usage.reduce((sum, u) => sum + u.amountMicros, 0n);

describe('a lease', () => {
  it('is billed as estimated, to the micro-unit, for any duration and any rhythm of ticks', () => {
    fc.assert(
      fc.property(
        price,
        fc.integer({ min: 0, max: 400_000_000 }),
        fc.array(fc.integer({ min: 0, max: 500_000_000 }), { maxLength: 20 }),
        fc.bigInt({ min: 3000n, max: 86_400n }),
        (micros, lastedMs, ticks, windowSeconds) => {
          const released = after(lastedMs);
          const estimate = cumulativeCost(
            { currency: 'USD', micros },
            wholeSecondsBetween(START, released),
          ).micros;
          let meter = newMeter(micros);
          const usage: NewUsage[] = [];
          const look = (now: Date): void => {
            const releaseRequestedAt = now >= released ? released : null;
            const known = facts({ releaseRequestedAt, evidenceAt: now });
            const result = meterLease(meter, known, { windowSeconds, unreachableSeconds: 20 }, now);
            meter = result.meter;
            usage.push(...result.usage);
          };
          for (const tick of ticks.toSorted((a, b) => a - b)) look(after(tick));
          for (let turns = 0; !meter.endedAt && turns < 1000; turns++) look(after(lastedMs + 500_000_000));
          expect(meter.endedAt).toEqual(released);
          expect(total(usage)).toBe(estimate);
          expect(meter.billedMicros).toBe(estimate);
          tiles(usage);
        },
      ),
    );
  });

  it('adds nothing when metered again', () => {
    const known = facts({ releaseRequestedAt: seconds(100), evidenceAt: seconds(200) });
    const { meter, usage } = meterLease(newMeter(3600n), known, HOUR, seconds(200));
    expect(usage).toHaveLength(1);
    expect(meterLease(meter, known, HOUR, seconds(900))).toEqual({ usage: [], meter });
  });

  it("is not metered ahead of the host's evidence, and a gap proven later is billed by a later record", () => {
    const silent = facts({ evidenceAt: seconds(3700) });
    const first = meterLease(newMeter(3600n), silent, HOUR, seconds(9000));
    expect(first.meter.billedSeconds).toBe(3600n);
    const back = facts({ evidenceAt: seconds(9001), outages: [outage(3700, 9001, true)] });
    const second = meterLease(first.meter, back, HOUR, seconds(9002));
    expect(second.meter.billedSeconds).toBe(7200n);
  });

  it('stays free while its machine is gone', () => {
    const known = facts({
      releaseRequestedAt: seconds(1000),
      evidenceAt: seconds(1001),
      outages: [outage(100, 250), outage(900, null, false, 2n)],
    });
    const { meter, usage } = meterLease(newMeter(3_600_000n), known, HOUR, seconds(1001));
    expect(meter).toMatchObject({ meteredSeconds: 1000n, billedSeconds: 750n, endedAt: seconds(1000) });
    expect(total(usage)).toBe(750_000n);
  });

  it.each([
    ['proves it later: billed by a correction', true, 500n, 1],
    ['shows that it was not served: free for good', false, 300n, 0],
  ])('that ends while its host is silent, which %s', (_, served, billed, corrections) => {
    const silent = facts({ releaseRequestedAt: seconds(500), evidenceAt: seconds(300) });
    expect(meterLease(newMeter(3600n), silent, HOUR, seconds(510)).meter.endedAt).toBeNull();
    const ended = meterLease(newMeter(3600n), silent, HOUR, seconds(520));
    expect(ended.meter).toMatchObject({ meteredSeconds: 500n, billedSeconds: 300n, endedAt: seconds(500) });
    expect(ended.meter.unprovenAfter).toEqual(seconds(300));
    const back = { ...silent, evidenceAt: seconds(900), outages: [outage(300, 900, served)] };
    const late = meterLease(ended.meter, back, HOUR, seconds(901));
    expect(late.meter).toMatchObject({ billedSeconds: billed, unprovenAfter: null });
    expect(late.usage).toHaveLength(corrections);
    tiles([...ended.usage, ...late.usage]);
  });

  it('gets back what late evidence shows as not served', () => {
    const first = meterLease(newMeter(3600n), facts({ evidenceAt: seconds(3600) }), HOUR, seconds(3600));
    const known = facts({ evidenceAt: seconds(3601), outages: [outage(3000, 3300)] });
    const { meter, usage } = meterLease(first.meter, known, HOUR, seconds(3601));
    expect(usage).toMatchObject([
      { kind: 'correction', correctedSecond: 3000n, billedSeconds: -300n, amountMicros: -300n },
    ]);
    expect(meter.billedMicros).toBe(cumulativeCost(meter.perHour, 3300n).micros);
  });
});

describe('served seconds', () => {
  it('are those that no outage covers, in any order and overlap', () => {
    const gaps = fc.array(
      fc.tuple(fc.integer({ min: 0, max: 120 }), fc.option(fc.integer({ min: 0, max: 60 })), fc.boolean()),
      { maxLength: 8 },
    );
    fc.assert(
      fc.property(
        gaps,
        fc.integer({ min: 0, max: 60 }),
        fc.integer({ min: 0, max: 60 }),
        (drawn, from, length) => {
          const outages = drawn.map(([began, lasted, served]) =>
            outage(began, lasted === null ? null : began + lasted, served),
          );
          let expected = 0n;
          for (let second = from; second < from + length; second++) {
            const missing = drawn.some(
              ([began, lasted, served]) =>
                !served && began <= second && (lasted === null || second < began + lasted),
            );
            if (!missing) expected += 1n;
          }
          expect(servedSeconds(START, BigInt(from), BigInt(from + length), outages)).toBe(expected);
        },
      ),
    );
  });
});
