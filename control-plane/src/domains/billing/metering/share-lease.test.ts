import { expect, it } from 'vitest';
import { costOfFirst, leaseCost } from './accrual.ts';
import { meterLease, type LeaseFacts, type Meter } from './meter-lease.ts';
import { shareOfLease, type LeaseUse } from './share-lease.ts';

const use = (id: string, from: number, to: number): LeaseUse => ({ id, from: BigInt(from), to: BigInt(to) });
const perSecond = (micros: bigint) => (seconds: bigint) => micros * seconds;

it('each second is divided among those that use the lease in it', () => {
  const [a, b, c] = [use('a', 0, 10), use('b', 5, 15), use('c', 20, 30)];
  const share = (own: LeaseUse) => Number(shareOfLease(perSecond(6n), [a, b, c], own));
  expect(share(a)).toBe(5 * 6 + 5 * 3);
  expect(share(b)).toBe(5 * 3 + 5 * 6);
  expect(share(c)).toBe(10 * 6);
  expect(share(use('never', 7, 7))).toBe(0);
});

it('what cannot be divided goes to the first, once', () => {
  const uses = [use('a', 0, 1), use('b', 0, 1), use('c', 0, 1)];
  expect(uses.map((one) => Number(shareOfLease(perSecond(11n), uses, one)))).toEqual([4, 4, 3]);
});

const at = (second: number): Date => new Date(Date.UTC(2026, 10, 15) + second * 1000);
const fresh: Meter = {
  startedAt: at(0),
  // A price that does not divide by the seconds of an hour.
  perHour: { currency: 'USD', micros: 9_999_991n },
  meteredSeconds: 0n,
  billedSeconds: 0n,
  billedMicros: 0n,
  records: 0n,
  seenRevision: 0n,
  endedAt: null,
  unprovenAfter: null,
};
const rules = { windowSeconds: 300n, unreachableSeconds: 20 };
const outage = { served: false, beganAt: at(100), endedAt: at(450), revision: 1n };
const situations: Record<string, Partial<LeaseFacts>> = {
  'a host that reports': {},
  'an outage': { outages: [outage] },
  'an outage that lasts': { outages: [{ ...outage, endedAt: null }] },
  'a silent host': { evidenceAt: at(700) },
  'a release': { releaseRequestedAt: at(777) },
  'a release on a host that is lost': { releaseRequestedAt: at(900), evidenceAt: at(640) },
};

it.each(Object.keys(situations))('shares add up to what billing says of a lease with %s', (name) => {
  const now = at(1000);
  const facts = { releaseRequestedAt: null, evidenceAt: now, outages: [], ...situations[name] };
  for (const meter of [fresh, meterLease(fresh, facts, rules, now).meter]) {
    const cost = costOfFirst(meter, facts, rules.unreachableSeconds, now);
    const { total } = leaseCost(meter, facts, rules.unreachableSeconds, now);
    expect(cost(1_000_000n)).toBe(total.micros);
    const uses = [use('a', 0, 200), use('b', 150, 1_000_000), use('c', 200, 1_000_000), use('d', 410, 411)];
    const shares = uses.map((one) => shareOfLease(cost, uses, one));
    expect(shares.reduce((sum, one) => sum + one, 0n)).toBe(total.micros);
  }
});
